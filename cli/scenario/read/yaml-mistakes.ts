import { Scalar, visit } from 'yaml'
import type { Document } from 'yaml'
import { makeMistake, placeOf } from './source.ts'
import type { Mistake, Source } from './source.ts'

const SYNTAX_SHOWN_MAX = 3

/** One slip of YAML may be reported many times over; the first reports are the ones that help. */
export function syntaxMistakes(document: Document, source: Source): Mistake[] {
  return document.errors.slice(0, SYNTAX_SHOWN_MAX).map(({ message, pos, code }) => {
    const start = /closing ["']/.test(message) ? (quoteBefore(document, pos[0]) ?? pos[0]) : pos[0]
    const place = placeOf(source, [start, start + 1])
    return makeMistake(source, place, {
      message: `this is no YAML: ${message}`,
      hint: code === 'TAB_AS_INDENT' ? 'spaces instead of tabs' : undefined,
    })
  })
}

/** The parser reports a missing quote where the file ends; what helps is where the text began. */
function quoteBefore(document: Document, end: number): number | undefined {
  let start: number | undefined
  visit(document, {
    Scalar(_key, node) {
      const isQuoted = node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE'
      if (isQuoted && node.range != null && node.range[0] <= end) start = node.range[0]
    },
  })
  return start
}

/**
 * Aliases of something that they are inside of: it would have no end. Each is replaced by nothing, so that the rest of
 * the document can be read, and its other mistakes be found.
 */
export function aliasMistakes(document: Document, source: Source): Mistake[] {
  const mistakes: Mistake[] = []
  // An anchor is that of the last node before the alias that bears it, and a visit goes in the order of the text.
  const anchored = new Map<string, unknown>()
  visit(document, {
    Node(_key, node) {
      if ('anchor' in node && typeof node.anchor === 'string') anchored.set(node.anchor, node)
    },
    Alias(_key, node, ancestors) {
      const target = anchored.get(node.source)
      if (target === undefined || !ancestors.some((ancestor) => ancestor === target)) return undefined
      const nothing = new Scalar(null)
      nothing.range = node.range ?? null
      const [start, end] = node.range ?? [0, 1]
      mistakes.push(
        makeMistake(source, placeOf(source, [start, end]), {
          message: `*${node.source} stands inside of what it repeats, which would have no end`,
          hint: 'the value itself in place of the alias',
        }),
      )
      return nothing
    },
  })
  return mistakes
}

/** A float can't hold money exactly, and nothing else in this language has decimals: each one wants quotes. */
export function floatMistakes(document: Document, source: Source): Mistake[] {
  const mistakes: Mistake[] = []
  visit(document, {
    Scalar(_key, node) {
      const written = node.source ?? String(node.value)
      if (typeof node.value !== 'number' || /^[-+]?\d+$/.test(written) || node.range == null) return
      const message = `${written} is a floating-point number here, which can't hold an amount exactly: quote it`
      mistakes.push(
        makeMistake(source, placeOf(source, [node.range[0], node.range[1]]), { message, hint: `"${written}"` }),
      )
    },
  })
  return mistakes
}
