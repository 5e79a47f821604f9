import { visit } from 'yaml'
import type { Document } from 'yaml'
import { makeMistake, placeOf } from './source.ts'
import type { Mistake, Source } from './source.ts'

const SYNTAX_SHOWN_MAX = 3

/** One slip of YAML may be reported many times over; the first reports are the ones that help. */
export function syntaxMistakes(document: Document, source: Source): Mistake[] {
  return document.errors.slice(0, SYNTAX_SHOWN_MAX).map(({ message, pos: [start], code }) =>
    makeMistake(source, placeOf(source, [start, start + 1]), {
      message: `this is no YAML: ${message}`,
      hint: code === 'TAB_AS_INDENT' ? 'spaces instead of tabs' : undefined,
    }),
  )
}

/** Aliases of something that they are inside of: it would have no end. */
export function aliasMistakes(document: Document, source: Source): Mistake[] {
  const mistakes: Mistake[] = []
  visit(document, {
    Alias(_key, node, ancestors) {
      if (!ancestors.some((ancestor) => ancestor === node.resolve(document)) || node.range == null) return
      const [start, end] = node.range
      const message = `*${node.source} stands inside of what it repeats, which would have no end`
      const hint = 'the value itself in place of the alias'
      mistakes.push(makeMistake(source, placeOf(source, [start, end]), { message, hint }))
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
