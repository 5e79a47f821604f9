import { piecesOf, widthOf } from './width.ts'

/** A line that has room for less than this is left to the terminal. */
const WIDTH_MIN = 20

/** Text in lines of at most this width, broken between words, each behind the indent. A longer word is left whole. */
export function wrapped(text: string, width: number, indent = ''): string[] {
  const room = Math.max(width - indent.length, WIDTH_MIN)
  // What fits keeps its own blanks: an excerpt of a file points with them.
  const lines = widthOf(text) <= room ? [text] : filled(text.split(' '), room)
  return lines.map((each) => `${indent}${each}`)
}

/**
 * A user's own text, in lines of at most this width: its own lines and their indents stay, and a longer word is
 * broken where the room ends.
 */
export function wrappedLines(text: string, width: number): string[] {
  return text
    .replaceAll('\r', '')
    .split('\n')
    .flatMap((line) => {
      if (widthOf(line) <= width) return [line]
      const [blanks = ''] = /^ */.exec(line) ?? []
      const margin = blanks.length < width / 2 ? blanks : ''
      const room = width - margin.length
      const words = line.trim().split(/ +/)
      return filled(
        words.flatMap((word) => piecesOf(word, room)),
        room,
      ).map((each) => margin + each)
    })
}

function filled(words: readonly string[], room: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of words) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line !== '' && widthOf(longer) > room) {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line]
}

const FURTHER = '    '
/** Within these a line end means itself. */
const UNBREAKABLE = /'/

/**
 * A command in lines of at most this width, to be copied as it stands: a shell puts them together again. One with
 * single quotes is left whole, for within them a line end means itself.
 */
export function wrappedCommand(command: string, width: number, indent = ''): string[] {
  if (widthOf(command) + indent.length <= width || UNBREAKABLE.test(command)) return [`${indent}${command}`]
  const lines = wrapped(command, width - FURTHER.length - indent.length - 2)
  return lines.map((line, index) => {
    return `${indent}${index === 0 ? '' : FURTHER}${line}${index === lines.length - 1 ? '' : ' \\'}`
  })
}
