import { el } from '../dom.ts'
import type { Child } from '../dom.ts'
import type { Problem } from './api.ts'
import type { Hub } from './hub-context.ts'
import type { Texts } from './language.ts'

/** A button that ignores further clicks while its action runs; it keeps the focus. */
export function button(label: string, kind: 'main' | 'plain' | 'danger', run: () => void | Promise<void>) {
  const made = el('button', { type: 'button', class: kind }, label)
  made.addEventListener('click', () => void runOnce(made, run))
  return made
}

/** A form with its submit button. */
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

/** An entry of a description list; null without a value. */
export function fact(name: string, ...value: readonly Child[]): HTMLElement | null {
  const isEmpty = value.every((part) => part === null || part === undefined || part === false || part === '')
  return isEmpty ? null : el('div', {}, el('dt', {}, name), el('dd', {}, ...value))
}

/** A visible message. Errors are also read out at once; for other messages use `announce`. */
export function alertBox(kind: 'bad' | 'good' | 'note', ...content: readonly Child[]): HTMLElement {
  return el('div', { class: `box ${kind}`, role: kind === 'bad' && 'alert' }, ...content)
}

/** The text of an error. An ended session has its own view. */
export function problemText({ problem: texts, checkout }: Texts, problem: Problem): string {
  if (problem.kind === 'too-many') return texts.tooMany(waitText(texts, problem.retryAfterSeconds))
  if (problem.kind === 'refused') return texts.other(problem.fields[0]?.message ?? problem.message)
  return checkout.failures.NETWORK
}

/** When a payer may try again. */
export function waitText(texts: Texts['problem'], seconds: number | undefined): string {
  if (seconds === undefined) return texts.later
  return seconds < 60 ? texts.inSeconds(seconds) : texts.inMinutes(Math.ceil(seconds / 60))
}

/** The error with a retry button. */
export function problemBox(hub: Hub, problem: Problem, retry: () => void | Promise<void>): HTMLElement {
  return alertBox('bad', el('p', {}, problemText(hub.texts, problem)), button(hub.texts.checkout.again, 'plain', retry))
}

/** The text shown while data loads. */
export function loadingText({ texts }: Hub): HTMLElement {
  return el('p', { class: 'soft' }, texts.loading)
}
