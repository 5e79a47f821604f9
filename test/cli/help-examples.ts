/** The command lines of a help's examples: without what a shell does with them, and without the remark beside them. */
export function examplesIn(help: string): string[] {
  const text = help.slice(help.indexOf('Examples:'))
  const lines = text.split('\n').flatMap((line) => /^ {2}svc (?<words>.+)$/.exec(line)?.groups?.['words'] ?? [])
  return lines.map((words) => words.replace(/ {3,}.*$/, '').replace(/ [<>] .*$/, ''))
}

/** The words of a command line, as a shell hands them over. */
export function wordsOf(example: string): string[] {
  return [...example.matchAll(/"(?<quoted>[^"]*)"|'(?<single>[^']*)'|(?<bare>\S+)/g)].map(
    ({ groups }) => groups?.['quoted'] ?? groups?.['single'] ?? groups?.['bare'] ?? '',
  )
}
