import type { Document } from 'yaml'
import type { Explained } from './explain.ts'
import { locate, makeMistake, placeText, placeOf } from './source.ts'
import type { Mistake, Source } from './source.ts'
import { visit, isScalar } from 'yaml'
import { messageOf } from '../../base/errors.ts'

/** A document of a file, as it is written, with what is wrong with its YAML. */
export type Opened = { source: Source; document: Document; raw: unknown; mistakes: readonly Mistake[] }

/** `raw` is undefined where the YAML can't be read; `mistakes` then says why. */
export function openDocument(document: Document, source: Source): Opened {
  if (document.errors.length > 0)
    return { source, document, raw: undefined, mistakes: syntaxMistakes(document, source) }
  const endless = aliasMistakes(document, source)
  if (endless.length > 0) return { source, document, raw: undefined, mistakes: endless }
  const mistakes = floatMistakes(document, source)
  try {
    return { source, document, raw: document.toJS({ maxAliasCount: 100 }), mistakes }
  } catch (error) {
    // An alias without its anchor, or so many that they would fill the memory.
    const place = locate(source, document, [], 'value')
    const message = `not valid YAML: ${messageOf(error)}`
    return { source, document, raw: undefined, mistakes: [makeMistake(source, place, { message })] }
  }
}

export type NoteIn = (opened: Opened, found: Explained) => void

/**
 * Collects mistakes. Of one place only the first counts: a float is reported as such, and not again as a wrong type.
 */
export function collectMistakes(first: readonly Mistake[]): { mistakes: Mistake[]; noteIn: NoteIn } {
  const mistakes = [...first]
  const places = new Set(mistakes.map(placeText))
  const noteIn: NoteIn = ({ source, document }, found) => {
    const mistake = makeMistake(source, locate(source, document, found.path, found.what), found)
    if (places.has(placeText(mistake))) return
    mistakes.push(mistake)
    places.add(placeText(mistake))
  }
  return { mistakes, noteIn }
}

const SYNTAX_SHOWN_MAX = 3

/** One slip of YAML may be reported many times over; the first reports are the ones that help. */
function syntaxMistakes(document: Document, source: Source): Mistake[] {
  return document.errors.slice(0, SYNTAX_SHOWN_MAX).map(({ message, pos: [start], code }) =>
    makeMistake(source, placeOf(source, [start, start + 1]), {
      message: `not valid YAML: ${message}`,
      hint: code === 'TAB_AS_INDENT' ? 'spaces instead of tabs' : undefined,
    }),
  )
}

/** Aliases of something that they are inside of: it would have no end. */
function aliasMistakes(document: Document, source: Source): Mistake[] {
  const mistakes: Mistake[] = []
  visit(document, {
    Alias(_key, node, ancestors) {
      if (!ancestors.some((ancestor) => ancestor === node.resolve(document)) || node.range == null) return
      const [start, end] = node.range
      const message = `*${node.source} is inside of what it repeats, which would have no end`
      const hint = 'the value itself in place of the alias'
      mistakes.push(makeMistake(source, placeOf(source, [start, end]), { message, hint }))
    },
  })
  return mistakes
}

/** A float can't hold money exactly, and nothing else in this language has decimals: each one wants quotes. */
function floatMistakes(document: Document, source: Source): Mistake[] {
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

/** As large may a file of scenarios be. */
export const BYTES_MAX = 1024 * 1024

/** The documents of a file in which something stands; a separator at a file's end begins one too. */
export function documentsOf<D extends Document>(parsed: readonly D[]): D[] {
  return parsed.filter((document) => !isEmpty(document) || document.errors.length > 0)
}

function isEmpty({ contents }: Document): boolean {
  return contents === null || (isScalar(contents) && contents.value === null)
}
