const DEPTH_MAX = 8
const CHARACTERS_MAX = 4_096

/** Why JSON can't be stored unchanged; undefined where PostgreSQL and readers can take it. */
export function storableJsonProblem(value: unknown): string | undefined {
  if (isDeeper(value, DEPTH_MAX)) return `must not be nested more than ${DEPTH_MAX} deep`
  const text = JSON.stringify(value)
  if (text.length > CHARACTERS_MAX) return `must have at most ${CHARACTERS_MAX} characters`
  // PostgreSQL stores neither; JSON.stringify writes half a pair of surrogates as an escape.
  if (/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i.test(text)) return 'must not contain U+0000 or half a character'
  return undefined
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1))
}
