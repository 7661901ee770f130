"""Decision support of `facts`; research and teaching only; not for clinical use; not reviewed by a clinician."""
