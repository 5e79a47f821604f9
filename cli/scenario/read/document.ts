import type { Document } from 'yaml'
import type { Explained } from './explain.ts'
import { locate, makeMistake, placeText } from './source.ts'
import type { Mistake, Source } from './source.ts'
import { aliasMistakes, floatMistakes, syntaxMistakes } from './yaml-mistakes.ts'

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
    const message = `this is no YAML: ${error instanceof Error ? error.message : String(error)}`
    return { source, document, raw: undefined, mistakes: [makeMistake(source, place, { message })] }
  }
}

/** Notes what is wrong at a place of a document. */
export type NoteIn = (opened: Opened, found: Explained) => void

/** Collects mistakes. Of one place only the first is told: a float is told as such, and not again as a wrong type. */
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
