/**
 * How strongly a media type is preferred, and how exactly the header names it: 2 by its own name, 1 by its kind, 0 by the
 * full wildcard.
 */
type Preference = { quality: number; precision: number }

type Range = { type: string; params: ReadonlyMap<string, string>; quality: number }

/**
 * Whether an Accept header (RFC 9110, 12.5.1) prefers `type` over `usual`. `usual` wins ties, and when the header accepts
 * neither or is missing.
 */
export function prefersType(accept: string | undefined, type: string, usual: string): boolean {
  if (accept === undefined) return false
  const ranges = accept.split(',').flatMap((text) => rangeOf(text))
  const [one, other] = [preferenceFor(type, ranges), preferenceFor(usual, ranges)]
  if (one.quality !== other.quality) return one.quality > other.quality
  return one.quality > 0 && one.precision > other.precision
}

/** Whether an Accept header accepts JSON in any form. */
export function takesJson(accept: string): boolean {
  const ranges = accept.split(',').flatMap((text) => rangeOf(text))
  return ranges.length === 0 || preferenceFor('application/json;charset=utf-8', ranges).quality > 0
}

/**
 * The most specific range that matches a type decides, so that an exact `q=0` rejects a type that a wildcard would accept.
 */
function preferenceFor(mediaType: string, ranges: readonly Range[]): Preference {
  const [type = '', ...rest] = mediaType.split(';')
  const own = paramsOf(rest)
  const kind = `${type.split('/')[0] ?? ''}/*`
  let best: Preference = { quality: 0, precision: -1 }
  for (const { type: range, params, quality } of ranges) {
    const precision = [`*/*`, kind, type].indexOf(range)
    if (precision === -1 || [...params].some(([name, value]) => own.get(name) !== value)) continue
    const exactness = precision + params.size / 100
    if (exactness > best.precision) best = { quality, precision: exactness }
    else if (exactness === best.precision) best.quality = Math.max(best.quality, quality)
  }
  return best
}

const QUALITY = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/
const TYPE = /^(\*\/\*|[\w!#$&^.+-]+\/(\*|[\w!#$&^.+-]+))$/

/** A range of the header, or an empty list for invalid syntax. */
function rangeOf(text: string): Range[] {
  const [name = '', ...rest] = text.split(';')
  const type = name.trim().toLowerCase()
  if (!TYPE.test(type)) return []
  const params = paramsOf(rest)
  const quality = params.get('q') ?? '1'
  params.delete('q')
  return QUALITY.test(quality) ? [{ type, params, quality: Number(quality) }] : []
}

function paramsOf(texts: readonly string[]): Map<string, string> {
  return new Map(
    texts.flatMap((text) => {
      const [name = '', value = ''] = text.split('=')
      return name.trim() === '' ? [] : [[name.trim().toLowerCase(), unquoted(value.trim()).toLowerCase()] as const]
    }),
  )
}

function unquoted(text: string): string {
  return /^".*"$/.test(text) ? text.slice(1, -1) : text
}
