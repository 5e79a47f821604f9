import type { Argument, Command, Option } from 'commander'
import { isAsking, isChanging } from '../../kit/change.ts'
import { examplesOf } from './examples-of.ts'
import type { CommandMap, MapArgument, MapOption } from './map.ts'

/** The map of a command; what is hidden from help is left out. */
export function mapOf(command: Command): CommandMap {
  const help = command.createHelp()
  const commands = help.visibleCommands(command).map((child) => mapOf(child))
  return {
    name: command.name(),
    aliases: command.aliases(),
    summary: command.description(),
    writes: isChanging(command) || has(command, '--dry-run'),
    asks: isAsking(command) || has(command, '--yes'),
    arguments: command.registeredArguments.map(argumentOf),
    options: command.options.filter(({ hidden }) => !hidden).map(optionOf),
    examples: examplesOf(command),
    commands,
  }
}

function has(command: Command, name: string): boolean {
  return command.options.some(({ long }) => long === name)
}

function argumentOf(argument: Argument): MapArgument {
  const { description, argChoices, required, variadic } = argument
  return { name: argument.name(), summary: description, choices: argChoices ?? null, required, variadic }
}

function optionOf(option: Option): MapOption {
  const { long, short, flags, description, argChoices, required, optional, variadic, mandatory, defaultValue } = option
  return {
    name: long ?? short ?? flags,
    short: long === undefined ? null : (short ?? null),
    summary: description,
    value: required ? 'required' : optional ? 'optional' : 'none',
    value_name: /[<[](?<name>[^>\]]+?)(?:\.\.\.)?[>\]]/.exec(flags)?.groups?.['name'] ?? null,
    choices: argChoices ?? null,
    variadic,
    mandatory,
    default: defaultValue ?? null,
  }
}
