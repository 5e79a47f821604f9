/** How much a media type is wanted, and how exactly it was named: 2 by its own name, 1 by its kind, 0 by any. */
type Preference = { quality: number; precision: number }

type Range = { type: string; params: ReadonlyMap<string, string>; quality: number }

/**
 * Whether an Accept header (RFC 9110, 12.5.1) asks for `type` rather than for `usual`, which is answered where both are
 * wanted alike, where neither is, and where nothing is said.
 */
export function prefersType(accept: string | undefined, type: string, usual: string): boolean {
  if (accept === undefined) return false
  const ranges = accept.split(',').flatMap((text) => rangeOf(text))
  const [one, other] = [preferenceFor(type, ranges), preferenceFor(usual, ranges)]
  if (one.quality !== other.quality) return one.quality > other.quality
  return one.quality > 0 && one.precision > other.precision
}

/** Whether an Accept header takes JSON at all, in whatever form. */
export function takesJson(accept: string): boolean {
  const ranges = accept.split(',').flatMap((text) => rangeOf(text))
  return ranges.length === 0 || preferenceFor('application/json;charset=utf-8', ranges).quality > 0
}

/** The most exact range that a type falls under decides over it, so that an exact `q=0` refuses what a wildcard lets in. */
function preferenceFor(mediaType: string, ranges: readonly Range[]): Preference {
  const [type = '', ...rest] = mediaType.split(';')
  const own = paramsOf(rest)
  const kind = `${type.split('/')[0] ?? ''}/*`
  let best: Preference = { quality: 0, precision: -1 }
  for (const { type: asked, params, quality } of ranges) {
    const precision = [`*/*`, kind, type].indexOf(asked)
    if (precision === -1 || [...params].some(([name, value]) => own.get(name) !== value)) continue
    const exactness = precision + params.size / 100
    if (exactness > best.precision) best = { quality, precision: exactness }
    else if (exactness === best.precision) best.quality = Math.max(best.quality, quality)
  }
  return best
}

const QUALITY = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/
const TYPE = /^(\*\/\*|[\w!#$&^.+-]+\/(\*|[\w!#$&^.+-]+))$/

/** A range of the header; none where it is not written as one. */
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
