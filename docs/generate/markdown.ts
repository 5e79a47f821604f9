/** The parts of a generated page. */

/** The first lines of every generated page; `title` becomes its only heading of level 1. */
export function pageHead(title: string, introduction: string): string {
  return `# ${title}\n\n${NOTICE}\n\n${introduction}\n`
}

const NOTICE = '<!-- Generated from the code by `npm run docs`. Change the code, then run it again. -->'

/** A table; cells are trimmed, and a bar within one is escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`)
  return `${lines.join('\n')}\n`
}

function cell(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim()
}

export function code(text: string): string {
  return `\`${text}\``
}

/** Several names as code, with commas between them; a dash where there is none. */
export function codes(texts: readonly string[]): string {
  return texts.length === 0 ? '–' : texts.map(code).join(', ')
}

/** A text that is a sentence of its own in a table or a list: it begins with a capital. */
export function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}

/** A fenced block. */
export function block(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\`\n`
}
