import pg from 'pg'
import type { DriverTypeParser } from 'slonik'

type Parse = (text: string | null) => unknown

const textualZoned = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})(?:\.(\d{1,6}))?\+00$/

/**
 * Turns PostgreSQL's text for a `timestamptz` into ISO 8601 in UTC with exactly three digits of a second
 * ('2026-11-21T06:46:05.123Z'). Microseconds are cut, never rounded, so that a time is never later than
 * the one stored. Connections run in UTC, hence `+00`; any other text (`infinity`, years beyond
 * 9999) is returned unchanged, for the row's schema to reject.
 */
const isoFromTimestamptz = (text: string): string => {
  const match = textualZoned.exec(text)
  if (match === null) return text
  const milliseconds = (match[3] ?? '').slice(0, 3).padEnd(3, '0')
  return `${match[1]}T${match[2]}.${milliseconds}Z`
}

// An array's empty element reaches the parser as null, although the driver's types exclude it.
const unlessNull =
  (parse: (text: string) => unknown): Parse =>
  (text) =>
    text === null ? null : parse(text)

const asText = unlessNull((text) => text)

// Money is `numeric` and never becomes a floating-point number; int8 does not fit one either. Times are
// text on the wire and in rows, so no Date comes between the two. json and jsonb keep the driver's
// parser: a statement that needs the stored bytes selects `payload::text`.
const parsers: readonly { name: string; oid: number; arrayOid: number; parse: Parse }[] = [
  { name: 'numeric', oid: 1700, arrayOid: 1231, parse: asText },
  { name: 'int8', oid: 20, arrayOid: 1016, parse: unlessNull((text) => BigInt(text)) },
  { name: 'timestamptz', oid: 1184, arrayOid: 1185, parse: unlessNull(isoFromTimestamptz) },
  { name: 'timestamp', oid: 1114, arrayOid: 1115, parse: asText },
  { name: 'date', oid: 1082, arrayOid: 1182, parse: asText },
  { name: 'interval', oid: 1186, arrayOid: 1187, parse: asText },
]

/** The type parsers in the form that slonik takes. */
export const slonikTypeParsers: readonly DriverTypeParser[] = parsers.map(({ name, parse }) => ({ name, parse }))

// Widened, for the driver's list of types does not name arrays.
const textArrayOid: number = 1009

const pgParsers: ReadonlyMap<number, Parse> = new Map(
  parsers.flatMap(({ oid, arrayOid, parse }): [number, Parse][] => {
    const parseArray: (text: string) => (string | null)[] = pg.types.getTypeParser(textArrayOid, 'text')
    return [
      [oid, parse],
      [arrayOid, unlessNull((text) => parseArray(text).map((element) => parse(element)))],
    ]
  }),
)

/** The same parsers in the form that a `pg` client takes, so that both kinds of connection agree. */
export const pgTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format === 'binary' ? undefined : pgParsers.get(oid)) ?? pg.types.getTypeParser(oid, format ?? 'text'),
}
