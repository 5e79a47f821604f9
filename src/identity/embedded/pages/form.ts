import { html } from '../../../lib/html.ts'
import type { Html } from '../../../lib/html.ts'

export type Field = {
  label: string
  name: string
  type: 'email' | 'password' | 'text'
  /** What browsers and password managers may fill in. */
  autocomplete: 'username' | 'current-password' | 'new-password' | 'one-time-code' | 'off'
  value?: string | undefined
  /** Shown below the field and read out with it. */
  hint?: string
  /** Whether the problem shown above the form concerns this field. */
  isWrong?: boolean
  /** Whether the field has the focus when the page opens. */
  isFirst?: boolean
  /** More attributes, inserted unchanged. */
  attributes?: Html
}

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

/** The problem, shown above the form; the field it concerns refers to it. */
export function problemNote(problem: string | undefined): Html | undefined {
  return problem === undefined ? undefined : html`<p class="wrong" role="alert" id="problem">${problem}</p>`
}

/** The title of a page with a problem begins with "Error:", because screen readers start there. */
export function titleOf(title: string, problem: string | undefined): string {
  return problem === undefined ? title : `Error: ${title}`
}

export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`
}
