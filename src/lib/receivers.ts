import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packageRoot } from './package-root.ts'

/** The languages of the example webhook receivers. */
export const RECEIVER_LANGUAGES = ['node', 'python', 'php', 'go', 'shell'] as const
export type ReceiverLanguage = (typeof RECEIVER_LANGUAGES)[number]

const EXTENSIONS: Record<ReceiverLanguage, string> = { node: 'mjs', python: 'py', php: 'php', go: 'go', shell: 'sh' }

/** The file's name, beside the others in `examples/receivers`. */
export function receiverFile(language: ReceiverLanguage): string {
  return `receiver.${EXTENSIONS[language]}`
}

/** The source of a receiver, which the portal shows and the command line prints. */
export function readReceiver(language: ReceiverLanguage): Promise<string> {
  return readFile(join(packageRoot(), 'examples', 'receivers', receiverFile(language)), 'utf8')
}
