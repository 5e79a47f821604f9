import { html } from '../../../lib/html.ts'
import type { Html } from '../../../lib/html.ts'

export type Field = {
  label: string
  name: string
  type: 'email' | 'password' | 'text'
  /** What the browser or a password manager may fill in. */
  autocomplete: 'username' | 'current-password' | 'new-password' | 'off'
  value?: string | undefined
  /** Below the field, and read out with it. */
  hint?: string
  /** Whether what is wrong is wrong here; the text itself stands above the form. */
  isWrong?: boolean
  /** Where the keyboard is when the page opens. */
  isFirst?: boolean
  /** More attributes, as they stand. */
  attributes?: Html
}

/** A labelled field. */
export function field(options: Field): Html {
  const { label, name, type, autocomplete, value, hint, isWrong = false, isFirst = false, attributes } = options
  const described = [isWrong ? 'problem' : undefined, hint === undefined ? undefined : `${name}-hint`]
  const describedBy = described.filter((id) => id !== undefined).join(' ')
  return html`<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" required
${value === undefined ? undefined : html` value="${value}"`}${isFirst ? html` autofocus` : undefined}${attributes}
${isWrong ? html` aria-invalid="true"` : undefined}${describedBy === '' ? undefined : html` aria-describedby="${describedBy}"`}>
${hint === undefined ? undefined : html`<p class="hint" id="${name}-hint">${hint}</p>`}`
}

/** What is wrong, above the form; the field that it is about points here. */
export function problemNote(problem: string | undefined): Html | undefined {
  return problem === undefined ? undefined : html`<p class="wrong" role="alert" id="problem">${problem}</p>`
}

/** A page that failed says so before anything else, where a screen reader begins. */
export function titleOf(title: string, problem: string | undefined): string {
  return problem === undefined ? title : `Error: ${title}`
}

export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`
}
