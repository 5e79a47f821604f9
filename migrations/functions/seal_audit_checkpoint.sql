-- Chains the checkpoints, so that an edit behind the triggers is detected.
-- needs: functions/audit_checkpoint_hash
create or replace function seal_audit_checkpoint() returns trigger
language plpgsql
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('audit_checkpoints', 0));
  new.ordinal := nextval('audit_checkpoints_ordinal_seq');
  select checkpoint_hash into new.prev_hash from audit_checkpoints order by ordinal desc limit 1;
  new.prev_hash := coalesce(new.prev_hash, repeat('0', 64));
  new.checkpoint_hash := audit_checkpoint_hash(new);
  return new;
end
$$;

create or replace trigger seal before insert on audit_checkpoints for each row execute function seal_audit_checkpoint();
