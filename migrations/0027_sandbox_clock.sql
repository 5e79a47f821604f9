-- Time travel in the sandbox, for merchants and for customers of the bank (decision 184). Due times move into the past
-- while every statement reads the real clock, so nothing of it is in the path of production, and audit rows keep their
-- real time (functions/advance_sandbox_clock.sql). Values that are counted by their age are not moved, because their
-- own time is shown: how far their subject's time has moved is recorded here instead.

-- Whose time was advanced, when and by how much. The subject is a merchant or a customer; production has no rows.
create table sandbox_clock_shifts (
  subject_id uuid not null,
  made_at timestamptz not null,
  moved_by interval not null check (moved_by > interval '0'),
  primary key (subject_id, made_at)
);
create index sandbox_clock_shifts__made_at on sandbox_clock_shifts (made_at);

grant select on sandbox_clock_shifts to svc_runtime;
