"""Five clinical scores as pure functions of the items of their published rules; the rules are in scores.yaml.

Research and teaching only; not for clinical use; not reviewed by a clinician.

An item is None where it is not known. `scoring="published"` counts an unknown item as absent (Glasgow: as normal), as
the released logs of ``facts`` do, where an Apgar score of nothing is 0 and a Glasgow score of nothing is 15;
`scoring="safe"` then leaves the points undefined, lists what is missing and says which points are still possible.
"""

from nsh.decision_support.scoring import RULES, Score, count
from nsh.errors import ParameterError

UREA_PER_BUN = RULES["curb65"]["urea_per_bun"]


def wells_dvt(
    *,
    active_cancer: bool | None = None,
    paralysis_or_plaster: bool | None = None,
    bedridden_or_surgery: bool | None = None,
    localized_tenderness: bool | None = None,
    entire_leg_swollen: bool | None = None,
    calf_swelling: bool | None = None,
    pitting_edema: bool | None = None,
    collateral_veins: bool | None = None,
    previous_dvt: bool | None = None,
    alternative_diagnosis: bool | None = None,
    scoring: str = "published",
) -> Score:
    """Wells score of a deep vein thrombosis (DVT), the modified rule of 2003: -2 to 9 points.

    ======================  ======  ====================================================================
    item (bool)             points  true if
    ======================  ======  ====================================================================
    active_cancer           1       cancer treated now or within 6 months, or palliative
    paralysis_or_plaster    1       paralysis, paresis or recent plaster of a leg
    bedridden_or_surgery    1       in bed for 3 days recently, or major surgery within 12 weeks
    localized_tenderness    1       tender along the deep veins
    entire_leg_swollen      1       the whole leg is swollen
    calf_swelling           1       calf more than 3 cm wider around than the other
    pitting_edema           1       pitting edema of the affected leg only
    collateral_veins        1       superficial collateral veins that are not varicose
    previous_dvt            1       DVT documented before (the item that the rule of 1997 does not have)
    alternative_diagnosis   -2      another diagnosis is at least as likely
    ======================  ======  ====================================================================

    Probability low to 0 points, moderate at 1 and 2, high from 3; DVT likely from 2 (Wells et al. 2003, scores.yaml).

    Raises
    ------
    ParameterError
        If an item is neither bool nor None, or `scoring` is unknown.

    Examples
    --------
    >>> wells_dvt(entire_leg_swollen=True, alternative_diagnosis=False).text
    'Wells DVT score: 1 of 9 points, moderate probability, DVT unlikely; 8 of 10 items not stated and counted as absent'
    """
    return count("wells_dvt", locals())


def wells_pe(
    *,
    dvt_signs: bool | None = None,
    pe_most_likely: bool | None = None,
    heart_rate: float | None = None,
    immobilization_or_surgery: bool | None = None,
    previous_dvt_or_pe: bool | None = None,
    hemoptysis: bool | None = None,
    malignancy: bool | None = None,
    scoring: str = "published",
) -> Score:
    """Wells score of a pulmonary embolism (PE): 0 to 12.5 points.

    ==========================  ======  =============================================================
    item                        points  if
    ==========================  ======  =============================================================
    dvt_signs (bool)            3       leg swelling and pain on palpation of the deep veins
    pe_most_likely (bool)       3       any other diagnosis is less likely
    heart_rate (per minute)     1.5     above 100
    immobilization_or_surgery   1.5     (bool) immobilized for 3 days, or surgery, within 4 weeks
    previous_dvt_or_pe (bool)   1.5     DVT or PE before
    hemoptysis (bool)           1       coughs blood
    malignancy (bool)           1       cancer treated now or within 6 months, or palliative
    ==========================  ======  =============================================================

    Probability low below 2 points, moderate from 2 to 6, high above 6; PE likely above 4 (Wells et al. 2000,
    scores.yaml).

    Raises
    ------
    ParameterError
        If an item is of the wrong type or out of range, or `scoring` is unknown.

    Examples
    --------
    >>> wells_pe(heart_rate=101, hemoptysis=True, scoring="safe").text
    'Wells PE score: not scored, 2.5 to 12.5 of 12.5 points are possible; not stated: dvt signs, pe most likely, \
immobilization or surgery, previous dvt or pe, malignancy'
    """
    return count("wells_pe", locals())


def curb65(
    *,
    confusion: bool | None = None,
    urea: float | None = None,
    respiratory_rate: float | None = None,
    systolic: float | None = None,
    diastolic: float | None = None,
    age: float | None = None,
    scoring: str = "published",
) -> Score:
    """CURB-65 score of a pneumonia acquired in the community: 0 to 5 points.

    ================================  ======  ==================================
    item                              points  if
    ================================  ======  ==================================
    confusion (bool)                  1       newly confused or disoriented
    urea (mmol/L)                     1       above 7
    respiratory_rate (per minute)     1       30 or more
    systolic, diastolic (mmHg)        1       systolic below 90 or diastolic at most 60
    age (years)                       1       65 or more
    ================================  ======  ==================================

    Risk of death low to 1 point, intermediate at 2, high from 3 (Lim et al. 2003, scores.yaml). A blood urea nitrogen
    in mg/dL is first multiplied by `UREA_PER_BUN`, 0.357 mmol/L: 19 mg/dL is 6.8 and brings no point, 20 is 7.1.

    Raises
    ------
    ParameterError
        If an item is of the wrong type or out of range, the diastolic pressure is above the systolic one, or `scoring`
        is unknown.

    Examples
    --------
    >>> curb65(confusion=False, urea=20 * UREA_PER_BUN, respiratory_rate=22, systolic=118, diastolic=70, age=65).text
    'CURB-65 score: 2 of 5 points, intermediate risk of death'
    """
    score = count("curb65", locals())
    if None not in (systolic, diastolic) and diastolic > systolic:
        raise ParameterError(f"curb65, diastolic: expected at most the systolic {systolic} mmHg; found {diastolic}")
    return score


def glasgow(
    *, eye: int | None = None, verbal: int | None = None, motor: int | None = None, scoring: str = "published"
) -> Score:
    """Glasgow Coma Scale: 3 to 15 points, the sum of three grades; what cannot be tested is None.

    ======  ========  =====================================================================================
    item    grades    from worst to best
    ======  ========  =====================================================================================
    eye     1 to 4    no opening, to pain, to speech, spontaneous
    verbal  1 to 5    nothing, sounds, words, confused, oriented
    motor   1 to 6    nothing, extension, abnormal flexion, withdrawal, localizes pain, obeys
    ======  ========  =====================================================================================

    Severe to 8 points, moderate from 9 to 12, mild from 13, said of brain injury (Teasdale and Jennett, scores.yaml).

    Raises
    ------
    ParameterError
        If a grade is no whole number of its range, or `scoring` is unknown.

    Examples
    --------
    >>> glasgow().points, glasgow(scoring="safe").points
    (15, None)
    """
    return count("glasgow_coma", locals())


def apgar(
    *,
    appearance: int | None = None,
    pulse: int | None = None,
    grimace: int | None = None,
    activity: int | None = None,
    respiration: int | None = None,
    scoring: str = "published",
) -> Score:
    """Apgar score of a newborn: 0 to 10 points, the sum of five grades.

    ===========  ==================  ================================  ============================
    item         0                   1                                 2
    ===========  ==================  ================================  ============================
    appearance   blue or pale        pink body, blue hands and feet    pink
    pulse        none                below 100 per minute              above 100 per minute
    grimace      no response         grimace                           sneeze or cough
    activity     limp                some flexion                      active motion
    respiration  none                slow, irregular                   good cry
    ===========  ==================  ================================  ============================

    Low to 3 points, intermediate from 4 to 6, normal from 7, at 5 minutes (sources: scores.yaml).

    Raises
    ------
    ParameterError
        If a grade is not 0, 1 or 2, or `scoring` is unknown.

    Examples
    --------
    >>> apgar(appearance=1, pulse=2, grimace=2, activity=2, respiration=2).text
    'Apgar score (categories are those of minute 5): 9 of 10 points, normal'
    """
    return count("apgar", locals())
