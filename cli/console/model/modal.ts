import { printable } from '../../base/text.ts'
import type { Line } from '../lines.ts'
import { NO_TEXT, editOf, edited, inserted } from './edit.ts'
import type { Edit } from './edit.ts'

export type Field = {
  name: string
  label: string
  /** A line of text; one of some words; or words that have to be typed as they stand, to confirm. */
  kind: 'line' | 'choice' | 'typed'
  /** Of a choice, what there is; of what is typed, what is accepted. */
  words?: readonly string[]
  /** Of a choice, what each of its words means. */
  notes?: Readonly<Record<string, string>>
  /** What the service calls it, where that is another name. */
  sent?: string
  optional?: true
  initial?: string
  /** A line that gets long: an editor may be opened for it. */
  long?: true
  /** A choice that Enter alone must not make: none of its words is chosen beforehand. */
  asks?: true
  /** What is wrong with it, in a line; undefined where nothing is. Asked as soon as it is answered. */
  check?(text: string): string | undefined
}

export type FormValues = Readonly<Record<string, string>>

/** A question before something is changed: what is about to happen, its fields, and the command that would do the same. */
export type Form = {
  kind: 'form'
  key: string
  title: string
  about: readonly string[]
  ids: readonly string[]
  fields: readonly Field[]
  /** The field that is being answered; as many as there are fields when all are, and Enter does it. */
  at: number
  edit: Edit
  chosen: number
  given: FormValues
  /** What stands in the fields, for those that are gone back to. */
  drafts: FormValues
  /** What will be done, where it weighs: the last look before it. "refunds 5.00 GBP to Priya" */
  last?: ((given: FormValues) => string) | undefined
  /** The same in a word or two, for the key that does it: "refund 5.00 GBP". */
  act?: ((given: FormValues) => string) | undefined
  problem: string | undefined
  /** What was done to what was typed, beside what was asked for. */
  note?: string | undefined
  live: boolean
  /** While it is being done: nothing can be typed then. */
  isWorking: boolean
}

export type Reading = {
  kind: 'text'
  title: string
  /** Texts, which are wrapped, and lines as they are. */
  lines: readonly (string | Line)[]
  top: number
  /** Who writes it, and is stopped when it is closed while that still goes on. */
  by?: AbortController
  isGoing?: boolean
  /** Whether it can't be shown again: then no other key than Esc closes it. */
  isOnce?: true
}

export type Modal = Form | Reading

export type FormInput = Pick<Form, 'key' | 'title' | 'about' | 'ids' | 'fields' | 'live' | 'last' | 'act'>

export function formOf(input: FormInput): Form {
  return entered({
    kind: 'form',
    ...input,
    at: 0,
    edit: NO_TEXT,
    chosen: 0,
    given: {},
    drafts: {},
    problem: undefined,
    isWorking: false,
  })
}

function entered(form: Form): Form {
  const field = form.fields[form.at]
  const text = field === undefined ? '' : (form.drafts[field.name] ?? field.initial ?? '')
  if (field?.kind !== 'choice') return { ...form, edit: editOf(text), chosen: 0 }
  const at = (field.words ?? []).indexOf(text)
  return { ...form, edit: NO_TEXT, chosen: field.asks === true ? at : Math.max(0, at) }
}

type FormStep = { form: Form } | { done: FormValues } | { cancelled: true } | { editor: Field }

export function stepped(before: Form, key: string): FormStep {
  if (before.isWorking) return { form: before }
  const form = before.note === undefined ? before : { ...before, note: undefined }
  if (key === 'esc') return { cancelled: true }
  const field = form.fields[form.at]
  if (key === 'shift-tab' || (key === 'up' && field?.kind !== 'choice')) return { form: wentBack(form) }
  if (field === undefined) {
    if (key === 'enter' || key === 'y') return { done: form.given }
    return key === 'n' || key === 'q' ? { cancelled: true } : { form }
  }
  if (key === 'enter') return answered(form, field)
  if (field.kind === 'choice') return { form: chosen(form, field, key) }
  if (key === 'ctrl-e' && field.long === true) return { editor: field }
  if (isControl(key)) return { form: { ...form, problem: NO_CONTROLS } }
  const edit = edited(form.edit, key)
  return { form: edit === undefined ? form : { ...form, edit, problem: undefined } }
}

const NO_CONTROLS = 'control characters, such as those of colours, are not taken: nothing of it was put in'

/** Whether it would drive a terminal; line ends become blanks. */
function isControl(text: string): boolean {
  const plain = text.replaceAll(/\s+/g, ' ')
  return printable(plain) !== plain
}

export function pasted(form: Form, text: string): Form {
  const field = form.fields[form.at]
  if (form.isWorking || field === undefined || field.kind === 'choice') return form
  if (isControl(text)) return { ...form, problem: NO_CONTROLS }
  const note = /[\r\n]/.test(text.trim()) ? JOINED : undefined
  return { ...form, edit: inserted(form.edit, text), problem: undefined, note }
}

const JOINED = 'its lines were joined with blanks: this is one line'

export function rewritten(form: Form, text: string): Form {
  return isControl(text) ? { ...form, problem: NO_CONTROLS } : pasted({ ...form, edit: NO_TEXT }, text.trim())
}

function chosen(form: Form, { words = [] }: Field, key: string): Form {
  // Upwards from none is the last one.
  const from = form.chosen === -1 && ['up', 'left', 'k'].includes(key) ? 0 : form.chosen
  return { ...form, chosen: chosenAfter(from, key, words), problem: undefined }
}

function textOf(form: Form, field: Field): string {
  if (field.kind === 'choice') return field.words?.[form.chosen] ?? ''
  return form.edit.text.trim()
}

/** The form with what stands in its present field kept; what confirms is to be typed again. */
function withDraft(form: Form): Form {
  const field = form.fields[form.at]
  if (field === undefined || field.kind === 'typed') return form
  return { ...form, drafts: { ...form.drafts, [field.name]: textOf(form, field) } }
}

function wentBack(form: Form): Form {
  return form.at === 0 ? form : entered({ ...withDraft(form), at: form.at - 1, problem: undefined })
}

/**
 * The form after a refusal: at the field that is named, with all that was typed, or where it was.
 * @param names what the refusal is about, as the service calls it
 */
export function refused(form: Form, problem: string, names: readonly string[]): Form {
  const at = form.fields.findIndex(
    ({ name, sent, kind }) =>
      kind !== 'typed' && (names.includes(name) || (sent !== undefined && names.includes(sent))),
  )
  if (at === -1 || at === form.at) return { ...form, isWorking: false, problem }
  return entered({ ...withDraft(form), isWorking: false, problem, at })
}

function answered(form: Form, field: Field): FormStep {
  const text = textOf(form, field)
  if (text === '' && field.optional !== true)
    return {
      form: { ...form, problem: `${field.label}: ${field.asks === true ? 'choose one' : 'is required'}` },
    }
  if (field.kind === 'typed' && field.words?.includes(text) === false)
    return { form: { ...form, problem: `that is not ${field.words.join(' or ')}; nothing was changed` } }
  const wrong = text === '' ? undefined : field.check?.(text)
  if (wrong !== undefined) return { form: { ...form, problem: `${field.label}: ${wrong}` } }
  const { [field.name]: _before, ...others } = form.given
  const given = field.kind === 'typed' ? form.given : text === '' ? others : { ...others, [field.name]: text }
  const next = entered({ ...withDraft(form), given, at: form.at + 1, problem: undefined })
  return doesIt(form) ? { done: given } : { form: next }
}

/**
 * Whether Enter does it now. What weighs is looked at once more before, unless it was just typed that it is meant; a form
 * without fields is confirmed by itself.
 */
export function doesIt(form: Form): boolean {
  const field = form.fields[form.at]
  if (field === undefined) return true
  return form.at === form.fields.length - 1 && (form.last === undefined || field.kind === 'typed')
}

export function givenSoFar(form: Form): FormValues {
  const field = form.fields[form.at]
  if (field === undefined || field.kind === 'typed') return form.given
  const text = textOf(form, field)
  const { [field.name]: _before, ...others } = form.given
  return text === '' ? others : { ...others, [field.name]: text }
}

function chosenAfter(chosen: number, key: string, words: readonly string[]): number {
  const count = Math.max(1, words.length)
  if (['down', 'right', 'tab', 'j'].includes(key)) return (chosen + 1) % count
  if (['up', 'left', 'k'].includes(key)) return (chosen + count - 1) % count
  // The same letter again leads to the next word that begins with it.
  const after = words.map((_, offset) => (chosen + 1 + offset) % count)
  return after.find((index) => words[index]?.toLowerCase().startsWith(key.toLowerCase())) ?? chosen
}
