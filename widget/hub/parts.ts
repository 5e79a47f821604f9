import { el } from '../dom.ts'
import type { Child } from '../dom.ts'
import type { Problem } from './api.ts'
import type { Hub } from './hub-context.ts'
import type { Texts } from './texts.ts'

/** A button that can't be pressed again while what it began is under way; it keeps the focus meanwhile. */
export function button(label: string, kind: 'main' | 'plain' | 'danger', run: () => void | Promise<void>) {
  const made = el('button', { type: 'button', class: kind }, label)
  made.addEventListener('click', () => void runOnce(made, run))
  return made
}

/** A form's own button; what the form does is its `onSubmit`. */
export function form(submitLabel: string, onSubmit: () => void | Promise<void>, ...content: readonly Child[]) {
  const submit = el('button', { type: 'submit', class: 'main' }, submitLabel)
  const made = el('form', { novalidate: true }, ...content, submit)
  made.addEventListener('submit', (event) => {
    event.preventDefault()
    void runOnce(submit, onSubmit)
  })
  return made
}

async function runOnce(pressed: HTMLButtonElement, run: () => void | Promise<void>): Promise<void> {
  if (pressed.getAttribute('aria-disabled') === 'true') return
  pressed.setAttribute('aria-disabled', 'true')
  try {
    await run()
  } finally {
    pressed.removeAttribute('aria-disabled')
  }
}

/** A name and its value, in a list of such; nothing where there is no value. */
export function fact(name: string, ...value: readonly Child[]): HTMLElement | null {
  const isEmpty = value.every((part) => part === null || part === undefined || part === false || part === '')
  return isEmpty ? null : el('div', {}, el('dt', {}, name), el('dd', {}, ...value))
}

/** A message that is seen; what is bad is read out at once, for the rest there is `announce`. */
export function alertBox(kind: 'bad' | 'good' | 'note', ...content: readonly Child[]): HTMLElement {
  return el('div', { class: `box ${kind}`, role: kind === 'bad' && 'alert' }, ...content)
}

/** What went wrong, in words. A session that is over has a view of its own. */
export function problemText({ problem: texts }: Texts, problem: Problem): string {
  if (problem.kind === 'too-many') return texts.tooMany(waitText(texts, problem.retryAfterSeconds))
  if (problem.kind === 'refused') return texts.other(problem.fields[0]?.message ?? problem.message)
  return texts.unreachable
}

function waitText(texts: Texts['problem'], seconds: number | undefined): string {
  if (seconds === undefined) return texts.later
  return seconds < 60 ? texts.inSeconds(seconds) : texts.inMinutes(Math.ceil(seconds / 60))
}

/** The same with a way to try again. */
export function problemBox(hub: Hub, problem: Problem, retry: () => void | Promise<void>): HTMLElement {
  return alertBox('bad', el('p', {}, problemText(hub.texts, problem)), button(hub.texts.again, 'plain', retry))
}

/** What stands there until the data has come. */
export function loadingText({ texts }: Hub): HTMLElement {
  return el('p', { class: 'soft' }, texts.loading)
}
