-- needs: functions/refuse_change
-- Retention deletes old calls (decision 370). In a file of its own, as Citus takes no other statement with it (394).
create or replace trigger append_only_calls before update or truncate on obie.calls
  for each statement execute function refuse_change();
