import { usageError } from '../base/errors.ts'
import { command, grouped } from '../kit/command.ts'
import { durationOf } from '../kit/context.ts'

const WAYS = ['device', 'withToken', 'nonInteractive', 'complete'] as const

export const login = command({
  command: 'login',
  summary: 'Sign in with a browser',
  examples: [
    'svc login                                                        the demo merchant of svc up',
    'svc login --platform                                             as an operator',
    'svc login --customer                                             as a customer of the bank',
    'svc login --api-url https://pay.example --realm acme-ltd',
    'svc login --second-factor                                        for what needs a new sign-in',
    'svc login --realm acme-ltd --with-token < token.txt',
    'svc login --realm acme-ltd --non-interactive; svc login --complete',
  ],
  flags: {
    ...grouped('Where:', {
      realm: {
        value: 'realm',
        summary: "A merchant's realm: the slug of the company",
        excludes: ['platform', 'customer'],
      },
      platform: { summary: "The platform's realm, for operators", excludes: ['customer'] },
      customer: { summary: "The realm of the bank's customers, for svc ob" },
    }),
    ...grouped('How:', {
      device: { summary: 'Confirm a code on another device (default without a browser)' },
      withToken: { summary: 'Read an access token from standard input' },
      nonInteractive: { summary: 'Start a device sign-in, print it as JSON, and return' },
      complete: { summary: 'Complete the sign-in that --non-interactive started' },
      secondFactor: { summary: 'Sign in again, with a second factor', excludes: ['withToken'] },
      timeout: { value: 'duration', summary: 'Maximum time to wait for the sign-in', initial: '5m' },
    }),
  },
  async run(context, input) {
    const ways = WAYS.filter((way) => input[way])
    if (ways.length > 1) throw usageError('--device, --with-token, --non-interactive and --complete: one of them')
    const timeoutMs = durationOf(input.timeout, '--timeout')
    const parts = await import('./login-flow.ts')
    if (input.complete) return parts.completeDevice(context, timeoutMs)
    const target = await parts.findTarget(context, context.http(), input)
    if (input.withToken) return parts.takeToken(context, target)
    if (input.nonInteractive) return parts.beginDevice(context, target, input.secondFactor)
    return parts.signIn(context, target, { device: input.device, secondFactor: input.secondFactor, timeoutMs })
  },
})
