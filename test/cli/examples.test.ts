import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import t from 'tap'
import { makeWholeProgram } from '../../cli/entry/program.ts'
import { SCRATCH } from '../support/scratch.ts'
import { makeIo } from './harness.ts'
import { examplesIn, wordsOf } from './help-examples.ts'
import { realService } from './real-service.ts'

/** The commands whose examples are run as they stand. */
const NOUNS = ['checkout', 'mandates', 'payer']

t.test('the examples of the help are command lines that are understood', async (t) => {
  const { as, merchant: addMerchant } = await realService(t)
  const merchant = await addMerchant()
  const cwd = mkdtempSync(join(SCRATCH, 'svc-examples-'))
  writeFileSync(join(cwd, 'secret.txt'), merchant.secret)
  const { io, stdout } = makeIo({ cwd })
  const examples = new Set<string>()
  const visit = (command: Command): void => {
    stdout.length = 0
    command.outputHelp()
    for (const example of examplesIn(stdout.join(''))) examples.add(example)
    for (const child of command.commands) visit(child)
  }
  const nouns = (await makeWholeProgram({ io, exitCode: 0 })).commands
  for (const command of nouns.flatMap((noun) => [noun, ...noun.commands]))
    if (NOUNS.includes(command.name())) visit(command)
  t.ok(examples.size > 30, `${examples.size} examples`)
  const token = 'k'.repeat(43)
  for (const example of examples) {
    const program = { BROWSER: 'true', EDITOR: 'true', PATH: process.env['PATH'] }
    const env = { ...program, SVC_WEBHOOK_SECRET: merchant.secret, SVC_PLATFORM_USER: 'ada', SVC_CONFIG_DIR: cwd }
    const [first = '', ...piped] = example.split(' | svc ')
    const words = [...wordsOf(first), ...(example.includes('--from-mail') ? ['--wait', '0s'] : [])]
    // The editor leaves its text as it is.
    const typed = example.endsWith('payer verify') ? token : example.endsWith('branding edit') ? '' : undefined
    const input = typed === undefined ? { stdin: token } : { typed }
    let { code, stdout: out, stderr } = await as(merchant, words, { cwd, env, ...input })
    for (const next of piped) {
      t.equal(code, 0, `${example}: ${stderr}`)
      ;({ code, stdout: out, stderr } = await as(merchant, wordsOf(next), { cwd, env, stdin: out }))
      t.equal(code, 0, `${example}: ${stderr}`)
    }
    // There is no payment a2b4358c, no payer is signed in, and the token of the example is none: that is no misuse.
    t.ok([0, 3, 4, 6].includes(code), `${example}: ${code} ${stderr}`)
  }
})
