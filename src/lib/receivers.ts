import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packageRoot } from './package-root.ts'

/** The languages that there is a receiver of webhooks to copy in. */
export const RECEIVER_LANGUAGES = ['node', 'python', 'php', 'go', 'shell'] as const
export type ReceiverLanguage = (typeof RECEIVER_LANGUAGES)[number]

const EXTENSIONS: Record<ReceiverLanguage, string> = { node: 'mjs', python: 'py', php: 'php', go: 'go', shell: 'sh' }

/** The file's name, beside the others in `examples/receivers`. */
export function receiverFile(language: ReceiverLanguage): string {
  return `receiver.${EXTENSIONS[language]}`
}

/** The whole text of a receiver, as the portal shows it and the command line prints it. */
export function readReceiver(language: ReceiverLanguage): Promise<string> {
  return readFile(join(packageRoot(), 'examples', 'receivers', receiverFile(language)), 'utf8')
}
