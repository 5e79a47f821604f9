import type { Case } from './read-case.ts'
import { makeMistake } from './source.ts'
import type { Mistake } from './source.ts'

/** The steps that would run a command on this machine, as what stands in the way where nobody has allowed them. */
export function findCommands(cases: readonly Pick<Case, 'steps'>[]): Mistake[] {
  return cases
    .flatMap(({ steps }) => steps)
    .filter(({ verb }) => verb === 'exec')
    .map(({ source, placeOf }) =>
      makeMistake(source, placeOf(['exec']), {
        message: 'this step runs a command on this machine, which nobody has allowed',
        hint: '--allow-exec, for files that you trust as you would trust a script',
      }),
    )
}
