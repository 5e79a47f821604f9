import { Option } from 'commander'
import type { Command } from 'commander'

/** An option whose rules can be read back: what it excludes, and how its choices are written. */
export class DataOption extends Option {
  excluded: readonly string[] = []
  synonyms: Readonly<Record<string, string>> = {}
  isList = false

  override conflicts(names: string | string[]): this {
    this.excluded = [...this.excluded, ...[names].flat()]
    return super.conflicts(names)
  }

  /** Other words for some of the choices, in capitals: those that tables show where room is short. */
  alsoTaking(synonyms: Readonly<Record<string, string>>): this {
    this.synonyms = synonyms
    return this
  }

  /** Takes several choices, between commas or by being repeated. */
  takingSeveral(): this {
    this.isList = true
    return this
  }
}

/** A command below another, with what it does. */
export function subcommand(parent: Command, name: string, summary: string): Command {
  return parent.command(name).description(summary)
}

/** Reads an option that may be repeated: each use adds one more value. */
export function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value]
}

/** The flag by which an operator means what belongs to all merchants, where the same command shows a merchant its own. */
export function forAllMerchants(command: Command): Command {
  return command.option('--all-merchants', 'Include all merchants, as an operator (if only an operator is signed in)')
}
