-- needs: functions/refuse_change
-- In a file of its own, as Citus takes no other statement with it (decision 394).
create or replace trigger keep_recent_calls before delete on obie.calls
  for each row when (old.at > now() - interval '30 days') execute function refuse_change();
