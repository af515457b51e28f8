-- Diagnoses have whole numbers for ids (specification, "Diagnosis"). A number may be missing: it is drawn before the commit.
create sequence diagnosis_number as integer;
