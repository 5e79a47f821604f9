import { setTimeout as delay } from 'node:timers/promises'
import { followStream } from '../client/event-stream.ts'
import type { Link, Session } from './model/state.ts'
import type { Hint } from './screen.ts'

export type FollowOptions = {
  session(): Pick<Session, 'client' | 'rights'>
  onHint(hint: Hint): void
  onLink(state: Link['state']): void
}

/** How long after a refusal it is tried again: who is refused may have signed in anew by then. */
const AGAIN_MS = 5_000

/** Follows the service's events for as long as the console is open, whatever happens to the connection. */
export function follow({ session, onHint, onLink }: FollowOptions): { restart(): void; stop(): void } {
  let abort = new AbortController()
  let isStopped = false

  async function run({ signal }: AbortController): Promise<void> {
    onLink('connecting')
    while (!signal.aborted) {
      const { client, rights } = session()
      try {
        await followStream(client, {
          access: [rights.who.kind === 'platform' ? 'platform' : 'merchant'],
          isPatient: true,
          signal,
          onOpen: () => onLink('live'),
          onLost: () => onLink('lost'),
          onFrame(frame) {
            if (frame.event === 'event') onHint({ event: frame.data })
            else if (frame.event === 'changed') onHint({ of: frame.data.of })
          },
        })
      } catch {
        // What is read as well tells the user what is wrong; this only goes on without news until it is not.
        if (!signal.aborted) onLink('lost')
      }
      await delay(AGAIN_MS, undefined, { signal }).catch(() => undefined)
    }
  }

  void run(abort)
  return {
    restart() {
      if (isStopped) return
      abort.abort()
      abort = new AbortController()
      void run(abort)
    },
    stop() {
      isStopped = true
      abort.abort()
    },
  }
}
