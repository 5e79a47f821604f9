import { LineCounter, isMap, isScalar, isSeq, parseDocument } from 'yaml'

type Path = readonly PropertyKey[]

/** A document with the lines of its parts, to say where a mistake is. JSON is read as well, as it is YAML. */
export type LocatedDocument = {
  value: unknown
  /** The line of a path's key, from 1; where the path leads nowhere, that of the last part of it that exists. */
  lineOf(path: Path): number
}

/** The text is not YAML. The message has neither the file nor values, only the line. */
export class YamlError extends Error {
  readonly line: number
  constructor(line: number, message: string) {
    super(message)
    this.name = 'YamlError'
    this.line = line
  }
}

/** @throws {YamlError} */
export function parseLocated(text: string): LocatedDocument {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter, prettyErrors: false })
  const [error] = document.errors
  if (error !== undefined) throw new YamlError(lineCounter.linePos(error.pos[0]).line, error.message)
  return {
    value: document.toJS(),
    lineOf: (path) => Math.max(1, lineCounter.linePos(offsetOf(document.contents, path)).line),
  }
}

function offsetOf(contents: unknown, path: Path): number {
  let node = contents
  let offset = 0
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
      if (pair === undefined || !isScalar(pair.key)) break
      offset = pair.key.range?.[0] ?? offset
      node = pair.value
    } else if (isSeq(node)) {
      node = node.items[Number(step)]
      if (isMap(node) || isSeq(node) || isScalar(node)) offset = node.range?.[0] ?? offset
    } else break
  }
  return offset
}
