import { CUT, EMPTY_LINE, cutTo, line, paragraph } from './lines.ts'
import type { Line } from './lines.ts'

/** What a form says, in its parts from above to below. */
export type FormParts = {
  about: readonly Line[]
  /** The command that does the same, each of its lines as it stands. */
  command: readonly string[]
  answered: readonly Line[]
  /** What is asked for now, and what is wrong with it. */
  asked: readonly Line[]
}

const HEADING = line('The same as a command:', 'dim')

/** All of a form, however many lines that are. */
export function wholeForm({ about, command, answered, asked }: FormParts, width: number): Line[] {
  const commands = command.flatMap((text) => paragraph(text, width, 'info'))
  return [...about, EMPTY_LINE, HEADING, ...commands, EMPTY_LINE, ...answered, ...asked]
}

/**
 * As much of a form as there is room for. What is asked stays whole, and so do the beginning and the end of the command;
 * what goes first is empty lines, then what was answered, which the command says too, then what it is about.
 */
export function fittedForm(parts: FormParts, { width, room }: { width: number; room: number }): Line[] {
  const whole = wholeForm(parts, width)
  if (whole.length <= room) return whole
  const { about, command, asked } = parts
  const commands = command.flatMap((text) => paragraph(text, width, 'info'))
  for (const answered of [parts.answered, []]) {
    const dense = [...about, HEADING, ...commands, ...answered, ...asked]
    if (dense.length <= room) return dense
  }
  const left = Math.max(1, room - asked.length)
  // Its first line says what it is about; a heading is the first to be missed by nobody.
  const [first] = about
  const head =
    first === undefined || left < 3 ? [] : [about.length === 1 ? first : cutTo([...first, { text: ` ${CUT}` }], width)]
  return [...head, ...middleCut(command.join(' '), { width, room: left - head.length }), ...asked].slice(-room)
}

/** A text in so many lines, of which the middle is left out where there is no room for it. */
export function middleCut(text: string, { width, room }: { width: number; room: number }): Line[] {
  const characters = [...text]
  const linesOf = (kept: number): Line[] => {
    const head = Math.ceil(kept / 2)
    const parts = [characters.slice(0, head), characters.slice(characters.length - (kept - head))]
    return paragraph(parts.map((part) => part.join('')).join(` ${CUT} `), width, 'info')
  }
  const whole = paragraph(text, width, 'info')
  if (whole.length <= room) return whole
  // It is drawn at every key, and may name hundreds of rows: how much of it fits is found by halves.
  let [fits, least, most] = [[] as Line[], 1, characters.length - 1]
  while (least <= most) {
    const kept = Math.floor((least + most) / 2)
    const lines = linesOf(kept)
    if (lines.length > room) most = kept - 1
    else [fits, least] = [lines, kept + 1]
  }
  return fits
}
