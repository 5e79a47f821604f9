import type pg from 'pg'

/** Who wrote what: every change of a row is noted with its time, and requests come one after the other. */
export type Writes = {
  /** The time as the database notes it. */
  now(): number
  note(request: Request): void
  /** The rejected requests since the last call that have left something; none where requests came at once. */
  take(isAtOnce: boolean): Promise<Offence[]>
  /** Tables that rejected requests may write to, and did. */
  meant: Set<string>
}

type Request = { number: number; began: number; isRejected: boolean; request: string }
type Write = { at: number; name: string; op: 'INSERT' | 'UPDATE' | 'DELETE' }

/** What was made at the identity provider, which has transactions of its own, and was taken away again. */
function isUndone(writes: readonly Write[]): boolean {
  const count = (wanted: Write['op']): number => writes.filter(({ op }) => op === wanted).length
  return count('UPDATE') === 0 && count('INSERT') === count('DELETE')
}

export type Offence = { number: number; request: string; tables: string[] }

/** What counts rejected requests, by its name: guesses, attempts, and look-ups of people. */
const MEANT = new Set(['public.failed_look_ups'])

const SET_UP = `
  create schema fuzz;
  create unlogged table fuzz.writes (at timestamptz not null default clock_timestamp(), name text not null, op text not null);
  create function fuzz.note() returns trigger language plpgsql security definer as $$
    begin
      if tg_op <> 'UPDATE' or new::text is distinct from old::text then
        insert into fuzz.writes (name, op) values (tg_table_schema || '.' || tg_table_name, tg_op);
      end if;
      return null;
    end $$;
  do $$
    declare each record;
    begin
      for each in select c.oid::regclass as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p') and not c.relispartition and n.nspname not in ('pg_catalog', 'information_schema', 'fuzz')
      loop
        execute format('create trigger zz_fuzz after insert or update or delete on %s for each row execute function fuzz.note()', each.name);
      end loop;
    end $$;`

export async function watchWrites(owner: pg.Client): Promise<Writes> {
  await owner.query(SET_UP)
  const meant = new Set<string>()
  let requests: Request[] = []
  return {
    meant,
    now: () => performance.timeOrigin + performance.now(),
    note: (request) => void requests.push(request),
    take: async (isAtOnce) => {
      const { rows } = await owner.query<Write>(
        'select extract(epoch from at)::float8 * 1000 as at, name, op from fuzz.writes',
      )
      if (rows.length > 0) await owner.query('truncate fuzz.writes')
      const of = requests
      requests = []
      if (isAtOnce) return []
      const byRequest = Map.groupBy(rows, ({ at }) => of.findLast(({ began }) => began <= at))
      return [...byRequest].flatMap(([by, writes]) => {
        if (by === undefined || !by.isRejected) return []
        const tables = [...Map.groupBy(writes, ({ name }) => name)]
          .filter(([, all]) => !isUndone(all))
          .map(([name]) => name)
        for (const name of tables) if (MEANT.has(name)) meant.add(name)
        const wrong = tables.filter((name) => !MEANT.has(name))
        return wrong.length === 0 ? [] : [{ number: by.number, request: by.request, tables: wrong }]
      })
    },
  }
}
