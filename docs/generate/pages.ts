import { commandsPage } from './commands.ts'
import { configurationPage } from './configuration.ts'
import { errorsPage } from './errors.ts'
import { eventsPage } from './events.ts'
import { operationsPage } from './operations.ts'
import { renamedPage } from './renamed.ts'
import { statesPage } from './states.ts'
import { verbsPage } from './verbs.ts'

/** The pages of docs/reference, by file name. The same code always makes the same text. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['operations.md', operationsPage()],
    ['errors.md', errorsPage()],
    ['events.md', eventsPage()],
    ['commands.md', await commandsPage()],
    ['renamed-commands.md', renamedPage()],
    ['configuration.md', configurationPage()],
    ['states.md', await statesPage()],
    ['scenario-verbs.md', verbsPage()],
  ])
}
