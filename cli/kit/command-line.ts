import { quoted } from '../base/command-hints.ts'

type Value = string | boolean | readonly string[] | undefined

/**
 * A command line as it was typed, with other values for some of its flags: a next step that can be pasted as it stands.
 * @param words the command's own words, such as `svc checkout token`
 * @param options by the names that the command knows them by; false and undefined are not there
 * @param changed what the next step gives instead; undefined takes a flag away
 */
export function wholeCommand(
  words: string,
  options: Readonly<Record<string, Value>>,
  changed: Readonly<Record<string, Value>> = {},
): string {
  const flags = Object.entries({ ...options, ...changed }).flatMap(([name, value]) => wordsOf(name, value))
  return [words, ...flags].join(' ')
}

function wordsOf(name: string, value: Value): string[] {
  const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  if (value === undefined || value === false) return []
  if (value === true) return [flag]
  return (typeof value === 'string' ? [value] : value).map((each) => `${flag} ${quoted(each)}`)
}
