import { isJson } from '../base/output-modes.ts'
import type { ColorFlag, Io } from '../base/io.ts'

/** How errors are told, known even when the command line could not be parsed. */
export function formOf(words: readonly string[], io: Io): { json: boolean; color: ColorFlag } {
  const valueOf = (...names: string[]): string | undefined => {
    const at = words.findIndex((word) => names.some((name) => word === name || word.startsWith(`${name}=`)))
    const word = words[at]
    return word?.includes('=') === true ? word.slice(word.indexOf('=') + 1) : words[at + 1]
  }
  const hasOutput = words.some((word) => /^(-o|--output)(=|$)/.test(word))
  const output = hasOutput ? valueOf('-o', '--output')?.toLowerCase() : undefined
  const json = words.some((word) => word.startsWith('--json='))
  const color = words.some((word) => /^--color(=|$)/.test(word)) ? valueOf('--color') : 'auto'
  return {
    json: output === undefined ? json || isJson({}, io.env) : output === 'json' || output === 'jsonl',
    color: color === 'always' || color === 'never' ? color : 'auto',
  }
}
