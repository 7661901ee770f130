"""The foot of a page."""

from nsh.cases import case_hash
from nsh.opening import open_page
from nsh.provenance import Provenance


def test_the_foot_names_parameters_data_versions_commit_and_date(tmp_path, monkeypatch):
    monkeypatch.setenv("NSH_STORE", str(tmp_path))
    study = open_page("voices-05-anchoring", models=["scripted"], n_cases=2, released="off")
    _ = study.records
    foot = Provenance(study)
    assert foot.rows["Page"] == "voices-05-anchoring"
    assert '"n_cases": 2' in foot.rows["Parameters"]
    assert case_hash(study.cases)[:16] in foot.rows["Cases"]
    assert study.data_hash[:16] in foot.rows["Cases and answers"]
    assert foot.rows["Generations"] == "6 made by this page, 0 found in the store"
    assert foot.rows["Papers' models"] == "packaged pattern counts"
    assert "numpy" in foot.rows["Versions"]
    assert len(foot.rows["Date"]) == len("2026-01-01 00:00 UTC")
    data, metadata = foot._repr_mimebundle_()
    assert "<details" in data["text/html"] and "voices-05-anchoring" in data["text/plain"]
    assert metadata["nsh"]["real"] is True
    assert "nsh.gaps" in metadata["nsh"]["modules"] or "nsh.study" in metadata["nsh"]["modules"]


def test_parameters_are_shown_literally(tmp_path, monkeypatch):
    study = open_page("voices-03-benchmark", n_cases=1)
    _ = study.cases
    study.values["source"] = "<script>1</script>"
    html = Provenance(study)._repr_mimebundle_()[0]["text/html"]
    assert "<script>" not in html
