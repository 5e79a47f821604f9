/** How many calls the bank remembers. */
const CALLS_MAX = 2_000

export type Call = {
  at: string
  operation: string
  status: number
  interactionId: string | undefined
  traceparent: string | undefined
  /** Which connection it came over, to see whether connections are kept. */
  connection: number
}

export type Calls = { list(): readonly Call[]; add(call: Call): void }

export function makeCalls(): Calls {
  const calls: Call[] = []
  return {
    list: () => calls,
    add: (call) => {
      calls.push(call)
      if (calls.length > CALLS_MAX) calls.shift()
    },
  }
}
