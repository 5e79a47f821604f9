import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { DeliveryStatus } from '../../src/wire/portal.ts'
import { action } from '../context.ts'
import type { Runtime } from '../context.ts'
import { ListOptions, list, replay } from './webhooks/deliveries.ts'
import { SetOptions, getEndpoint, setEndpoint } from './webhooks/endpoint.ts'
import { addListen } from './webhooks/listen.ts'
import { SignOptions, VerifyOptions, sign, verify } from './webhooks/signature.ts'

/** `svc webhooks`: where they go, what became of them, and how a receiver proves where they come from. */
export function addWebhooks(program: Command, runtime: Runtime): void {
  const webhooks = program
    .command('webhooks')
    .alias('wh')
    .helpCommand(false)
    .description('the address webhooks go to, their deliveries, their signatures')
  addEndpoint(webhooks, runtime)
  webhooks
    .command('list')
    .description('list the last 50 deliveries')
    .addOption(new Option('--status <status>', 'only in this status').choices(DeliveryStatus.options))
    .option('--payment <id>', 'only about this payment')
    .addHelpText(
      'after',
      '\nExamples:\n  svc webhooks list --status DEAD\n  svc webhooks list --payment a2b4358c -o jsonl\n',
    )
    .action(action(runtime, ListOptions, list))
  webhooks
    .command('replay')
    .description('send DEAD deliveries again, from their first attempt')
    .argument('<ids...>', 'deliveries as svc webhooks list shows them, or the last 8 characters of their ids')
    .addHelpText(
      'after',
      '\nExamples:\n  svc webhooks replay a2b4358c\n  svc webhooks list --status DEAD -o id | xargs svc webhooks replay\n',
    )
    .action(action(runtime, z.object({}), replay))
  addListen(webhooks, runtime)
  addSignature(webhooks, runtime)
}

function addEndpoint(webhooks: Command, runtime: Runtime): void {
  const endpoint = webhooks.command('endpoint').helpCommand(false).description('the address that webhooks go to')
  endpoint
    .command('get')
    .description('show the address')
    .addHelpText('after', '\nExamples:\n  svc webhooks endpoint get\n')
    .action(action(runtime, z.object({}), getEndpoint))
  endpoint
    .command('set')
    .description('set the address, or remove it')
    .argument('[url]', 'where to POST them')
    .option('--none', 'send them nowhere; they are kept and can be replayed')
    .addHelpText(
      'after',
      '\nExamples:\n  svc webhooks endpoint set http://127.0.0.1:4242/hook\n  svc webhooks endpoint set --none\n',
    )
    .action(action(runtime, SetOptions, setEndpoint))
}

const SECRET_HELP = `
The secret never stands on the command line: it comes from SVC_WEBHOOK_SECRET, or with --secret-stdin from the first
line of standard input. The body is --body-file, or else (the rest of) standard input, byte for byte.
`

function addSignature(webhooks: Command, runtime: Runtime): void {
  webhooks
    .command('verify')
    .description('check the X-Service-Signature of a body, offline; exit code 3 when it is wrong')
    .requiredOption('--signature <hex>', "the header's value")
    .option('--body-file <file>', 'the body as it arrived')
    .option('--secret-stdin', 'read the secret from the first line of standard input')
    .addHelpText(
      'after',
      `${SECRET_HELP}\nExamples:\n  svc webhooks verify --secret-stdin --signature 9f2c... --body-file body.json < secret.txt\n`,
    )
    .action(action(runtime, VerifyOptions, verify))
  webhooks
    .command('sign')
    .description('print the X-Service-Signature of a body, offline')
    .option('--body-file <file>', 'the body as it will be sent')
    .option('--secret-stdin', 'read the secret from the first line of standard input')
    .addHelpText('after', `${SECRET_HELP}\nExamples:\n  SVC_WEBHOOK_SECRET=... svc webhooks sign < body.json\n`)
    .action(action(runtime, SignOptions, sign))
}
