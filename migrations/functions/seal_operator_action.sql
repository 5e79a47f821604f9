-- Chains all actions, so that an edit behind the triggers is detected. With the owner's rights, because the one before may
-- be about another merchant.
-- needs: functions/operator_action_hash
create or replace function seal_operator_action() returns trigger
language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  -- One after the other: the chain must not branch, and its order is the order of the ordinals.
  perform pg_advisory_xact_lock(hashtextextended('operator_actions', 0));
  new.ordinal := nextval('operator_actions_ordinal_seq');
  select action_hash into new.prev_hash from operator_actions order by ordinal desc limit 1;
  new.prev_hash := coalesce(new.prev_hash, repeat('0', 64));
  new.action_hash := operator_action_hash(new);
  return new;
end
$$;

create or replace trigger seal before insert on operator_actions for each row execute function seal_operator_action();
