import { Box, Text } from 'ink'
import type { ReactElement } from 'react'
import { printable } from '../../base/text.ts'
import type { Console } from '../console.ts'
import { EMPTY_LINE, cutTo, line, paragraph, isUtf8 } from '../lines.ts'
import type { Line } from '../lines.ts'
import { commandText } from '../actions.ts'
import type { UnderWay } from '../model/state.ts'
import { givenSoFar } from '../model/modal.ts'
import { spanText } from '../../base/ages.ts'
import type { Field, Form } from '../model/modal.ts'
import { readingLines } from '../tools.ts'
import { Lines } from './text-line.tsx'

export function Modal({ console }: { console: Console }): ReactElement | null {
  const { modal } = console.state()
  const { bodyHeight, layout, opened, view } = console.seen()
  if (modal === undefined) return null
  const width = Math.min(layout.width, 100)
  if (modal.kind === 'form') {
    const room = Math.max(1, bodyHeight - FRAME_LINES)
    const lines = formLines(console, modal, { width: width - 4, room })
    const left = bodyHeight - FRAME_LINES - lines.length
    const top = view.open?.top ?? 0
    // What is decided on can still be read, where there is room for it.
    const below = opened === undefined || left < BELOW_LEAST ? [] : opened.lines.slice(top, top + left)
    return (
      <>
        <Frame title={modal.title} lines={lines} width={width} live={modal.live} />
        <Lines lines={below} indent=" " />
      </>
    )
  }
  const { title, lines, height } = readingLines(console)
  const rest = lines.length - modal.top - height
  const more = rest > 0 ? `${rest} more lines: j, k, PgDn` : ''
  return (
    <Frame title={title} lines={[...lines.slice(modal.top, modal.top + height), line(more, 'dim')]} width={width} />
  )
}

/** A border, and a line for the title. */
const FRAME_LINES = 3
const BELOW_LEAST = 6

type FrameProps = { title: string; lines: readonly Line[]; width: number; live?: boolean }

function Frame({ title, lines, width, live = false }: FrameProps): ReactElement {
  return (
    <Box
      flexDirection="column"
      borderStyle={isUtf8(process.env) ? 'round' : 'classic'}
      borderColor={live ? 'red' : 'cyan'}
      paddingX={1}
      width={width}
      aria-label={printable(title)}
    >
      <Text bold wrap="truncate">
        {live ? 'LIVE: ' : ''}
        {printable(title)}
      </Text>
      <Lines lines={lines} width={width - 4} />
    </Box>
  )
}

/**
 * What a form says, from its question to the command that would do the same. Where there is little room, what is asked
 * stays whole, and so does the beginning of the command.
 */
export function formLines(console: Console, form: Form, { width, room }: { width: number; room: number }): Line[] {
  const about = form.about.flatMap((text) => paragraph(text, width))
  const command = commandText(console, givenSoFar(form))
    .split('\n')
    .flatMap((text) => paragraph(text, width, 'info'))
  const answered = form.fields
    .slice(0, form.at)
    .filter(({ kind }) => kind !== 'typed')
    .map(({ name, label }): Line => [{ text: `${label}: `, tone: 'dim' }, { text: form.given[name] ?? '-' }])
  const before = [...about, EMPTY_LINE, line('The same as a command:', 'dim'), ...command, EMPTY_LINE, ...answered]
  const problem = (form.problem ?? '').split('\n').filter((text) => text !== '')
  const after = [
    ...problem.flatMap((text, index) => paragraph(text, width, index === 0 ? 'bad' : 'dim')),
    ...(form.note === undefined ? [] : paragraph(form.note, width, 'warn')),
  ]
  const { underWay, now } = console.state()
  const asked =
    underWay !== undefined && form.isWorking
      ? [progressLine(underWay, now - (underWay.since ?? now))]
      : askLines(form, form.fields[form.at], { width, room: room - before.length - after.length })
  const whole = [...before, ...asked, ...after]
  if (whole.length <= room) return whole
  const left = Math.max(0, room - asked.length - after.length)
  return [...about.slice(0, left > 2 ? 1 : 0), ...command].slice(0, left).concat(asked, after).slice(-room)
}

function askLines(form: Form, field: Field | undefined, { width, room }: { width: number; room: number }): Line[] {
  const weighs = form.last?.(form.given)
  if (field === undefined)
    return weighs === undefined
      ? [line('Enter confirms. Esc cancels.', 'bold')]
      : [
          ...paragraph(`Enter ${weighs}.`, width, 'warn'),
          line(`Esc cancels${form.at > 0 ? '; shift-tab goes back' : ''}.`, 'dim'),
        ]
  if (field.kind === 'choice') return [line(`${field.label}:`, 'bold'), ...choiceLines(form, field, { width, room })]
  return [
    ...(field.kind === 'typed' && weighs !== undefined ? paragraph(`It ${weighs}.`, width, 'warn') : []),
    ...paragraph(
      `${field.label}${field.optional === true ? ' (optional)' : ''}:`,
      width,
      field.kind === 'typed' ? 'warn' : 'bold',
    ),
    typedLine(form.edit, width),
  ]
}

/** So many words of a choice are shown at least, those around the chosen one. */
const CHOICES_LEAST = 4
/** Its label, how many there are, and room below. */
const CHOICE_LINES = 3

function choiceLines(form: Form, field: Field, { width, room }: { width: number; room: number }): Line[] {
  const { chosen } = form
  const { words = [], notes } = field
  const count = Math.max(CHOICES_LEAST, room - CHOICE_LINES)
  const from = Math.max(0, Math.min(chosen - Math.floor(count / 2), words.length - count))
  const widest = Math.max(0, ...words.map((word) => word.length))
  const shown = words.slice(from, from + count).map((word, offset) => {
    const isChosen = from + offset === chosen
    const note = notes?.[word] ?? ''
    const text = `${isChosen ? '> ' : '  '}${note === '' ? word : `${word.padEnd(widest)}  ${note}`}`
    return cutTo(line(text, isChosen ? 'selected' : undefined), width)
  })
  if (chosen === -1) return [...shown, line('Select an option with up, down or its first letter.', 'dim')]
  return words.length > count
    ? [...shown, line(`${chosen + 1} of ${words.length}; a letter leads to the next word with it`, 'dim')]
    : shown
}

export function typedLine({ text, at }: { text: string; at: number }, width: number): Line {
  const characters = [...text, ' ']
  const from = Math.max(0, at - width + 3)
  const shown = characters.slice(from, from + width - 2)
  return [
    { text: '> ' },
    { text: shown.slice(0, at - from).join('') },
    { text: shown[at - from] ?? ' ', tone: 'selected' },
    { text: shown.slice(at - from + 1).join('') },
  ]
}

const WAIT_SHOWN_MS = 1_000

function progressLine({ done, failed, total }: UnderWay, ms: number): Line {
  const time = ms < WAIT_SHOWN_MS ? '' : ` ${spanText(ms)}`
  if (total === 1) return line(`Working ...${time}`, 'dim')
  return line(`${done + failed} of ${total} ...${failed === 0 ? '' : ` ${failed} failed`}${time}`, 'dim')
}
