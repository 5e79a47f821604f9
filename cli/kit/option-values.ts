import type { Command, Option } from 'commander'

/** An option of choices that takes other words for some of them, in any case: those that tables show where room is short. */
export function alsoTaking(option: Option, others: Readonly<Record<string, string>>): Option {
  const { parseArg } = option
  return option.argParser((word, before) => {
    const meant = others[word.toUpperCase()] ?? word
    return parseArg === undefined ? meant : parseArg.call(option, meant, before)
  })
}

/** Lets every option of choices, of this command and all below it, take them in any case: `settled` is `Settled`. */
export function takeAnyCase(command: Command): void {
  for (const option of command.options) {
    const { argChoices: choices, parseArg } = option
    if (choices === undefined || parseArg === undefined) continue
    option.argParser((word, before) => {
      const meant = choices.find((choice) => choice.toLowerCase() === word.toLowerCase())
      return parseArg.call(option, meant ?? word, before)
    })
  }
  for (const child of command.commands) takeAnyCase(child)
}

/** Lets an option of choices take several of them, between commas or by being repeated. */
export function takingSeveral(option: Option): Option {
  const { parseArg } = option
  return option.argParser((text, before: string[] | undefined) => [
    ...(before ?? []),
    ...text.split(',').map((word) => {
      const meant = word.trim().toLowerCase()
      return parseArg === undefined ? meant : String(parseArg.call(option, meant, undefined))
    }),
  ])
}

/** Reads an option that may be repeated: each use adds one more value. */
export function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value]
}

/** The flag by which an operator means what belongs to all merchants, where the same command shows a merchant its own. */
export function forAllMerchants(command: Command): Command {
  return command.option('--all-merchants', 'of all merchants, as an operator (where only an operator is signed in)')
}
