import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../../db/sql.ts'

/** Times in milliseconds from now, so that clocks of processes need not agree with the database's. */
const OutageRow = z.object({
  bank_id: z.string(),
  silent_since: z.number().nullable(),
  silent_at: z.number().nullable(),
  rests_until: z.number().nullable(),
  answered_at: z.number().nullable(),
})
export type OutageRow = z.infer<typeof OutageRow>

const columns = sql.fragment`
  o.bank_id, (extract(epoch from o.silent_since - now()) * 1000)::float8 as silent_since,
  (extract(epoch from o.silent_at - now()) * 1000)::float8 as silent_at,
  (extract(epoch from o.rests_until - now()) * 1000)::float8 as rests_until,
  (extract(epoch from o.answered_at - now()) * 1000)::float8 as answered_at
`

export function listOutages(tx: CommonQueryMethods): Promise<readonly OutageRow[]> {
  return tx.any(sql.type(OutageRow)`select ${columns} from bank_outages o`)
}

export type Silence = {
  bankId: string
  /** How long ago the first of the calls in a row was not answered. */
  sinceMs: number
  restMs: number
  /** It is not recorded where any process has had an answer within this time. */
  unheardMs: number
  /** A silence that begins later than this after the last one is another one. */
  gapMs: number
}

/** Records that a bank does not answer. @returns the row as it is now; null where another process has had an answer */
export function putSilence(tx: CommonQueryMethods, silence: Silence): Promise<OutageRow | null> {
  const { bankId, sinceMs, restMs, unheardMs, gapMs } = silence
  return tx.maybeOne(sql.type(OutageRow)`
    insert into bank_outages as o (bank_id, silent_since, silent_at, rests_until)
    values (
      ${bankId}, now() - ${sinceMs} * interval '1 millisecond', now(), now() + ${restMs} * interval '1 millisecond'
    )
    on conflict (bank_id) do update set
      silent_since = case
        when o.silent_at > coalesce(o.answered_at, '-infinity') and o.silent_at >= now() - ${gapMs} * interval '1 millisecond'
        then least(o.silent_since, excluded.silent_since) else greatest(excluded.silent_since, o.answered_at) end,
      silent_at = excluded.silent_at,
      rests_until = case
        when o.silent_at > coalesce(o.answered_at, '-infinity')
        then greatest(o.rests_until, excluded.rests_until) else excluded.rests_until end
    where coalesce(o.answered_at, '-infinity') < now() - ${unheardMs} * interval '1 millisecond'
    returning ${columns}
  `)
}

/** Records that a bank has answered. */
export function putAnswer(tx: CommonQueryMethods, bankId: string): Promise<OutageRow> {
  return tx.one(sql.type(OutageRow)`
    insert into bank_outages as o (bank_id, answered_at) values (${bankId}, now())
    on conflict (bank_id) do update set answered_at = now()
    returning ${columns}
  `)
}
