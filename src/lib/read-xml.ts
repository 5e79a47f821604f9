import { SaxesParser } from 'saxes'
import { UnreadableFile } from './file-text.ts'

/** An element with what it contains; blanks around its text are gone. */
export type Element = { name: string; attributes: Readonly<Record<string, string>>; text: string; children: Element[] }

/** Deeper than any message of ISO 20022 goes. */
const DEPTH_MAX = 40
/** Longer than any text of ISO 20022: the limit is for files that attack. */
const TEXT_MAX = 10_000

/**
 * Reads XML and gives each element at `depth` (the root is 1) to `take`, with the names above it, once it is complete.
 * What was given is forgotten, so memory does not grow with the file. A document type is refused: entities of a file,
 * its own or another's, are never expanded.
 * @throws {UnreadableFile} for what is not well-formed, too deep or too long
 */
export function readXml(text: string, depth: number, take: (element: Element, path: readonly string[]) => void): void {
  const parser = new SaxesParser()
  const open: Element[] = []
  const at = (message: string): UnreadableFile => new UnreadableFile(`line ${parser.line}: ${message}`)
  parser.on('error', ({ message }) => {
    throw at(message.replace(/^[\d:\s]+/, ''))
  })
  parser.on('doctype', () => {
    throw at('a document type (<!DOCTYPE …>) is not allowed: no bank sends one, and its entities can do harm')
  })
  parser.on('opentag', ({ name, attributes }) => {
    if (open.length >= DEPTH_MAX) throw at(`elements are nested deeper than ${DEPTH_MAX} levels`)
    open.push({ name: localName(name), attributes, text: '', children: [] })
  })
  const append = (more: string): void => {
    const element = open.at(-1)
    if (element === undefined) return
    element.text += more
    if (element.text.length > TEXT_MAX) throw at(`the text of <${element.name}> has more than ${TEXT_MAX} characters`)
  }
  parser.on('text', append)
  parser.on('cdata', append)
  parser.on('closetag', () => {
    const element = open.pop()
    if (element === undefined) return
    element.text = element.text.trim()
    if (open.length + 1 === depth)
      take(
        element,
        open.map(({ name }) => name),
      )
    else if (open.length + 1 > depth) open.at(-1)?.children.push(element)
  })
  parser.write(text).close()
}

/** Some banks write a prefix before each name. */
function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** The first element on a path such as `Sts/Cd`. */
export function child(element: Element, path: string): Element | undefined {
  let found: Element | undefined = element
  for (const name of path.split('/')) found = found?.children.find((each) => each.name === name)
  return found
}

/** The text on the first of the paths where there is one. */
export function textAt(element: Element, ...paths: string[]): string | undefined {
  for (const path of paths) {
    const text = child(element, path)?.text
    if (text !== undefined && text !== '') return text
  }
  return undefined
}

/** All elements on a path, of every branch. */
export function allAt(element: Element, path: string): Element[] {
  const [name = '', ...rest] = path.split('/')
  const found = element.children.filter((each) => each.name === name)
  return rest.length === 0 ? found : found.flatMap((each) => allAt(each, rest.join('/')))
}
