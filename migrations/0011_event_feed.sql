-- The pull feed reads events in an order that is safe against late commits: by the transaction that wrote them, and no
-- further than the oldest transaction that still runs (decision 56). A row's number alone would not do, for numbers are
-- given out before the commit, and a reader would pass over the row that commits last.
alter table webhook_deliveries
  add column feed_xid xid8 not null default pg_current_xact_id(),
  add column feed_ordinal bigint generated always as identity;

create index webhook_deliveries__merchant_id__feed on webhook_deliveries (merchant_id, feed_xid, feed_ordinal);
