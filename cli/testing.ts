import { openService } from './scenario/testing/service.ts'
import type { ServiceOptions } from './scenario/testing/service.ts'
import { beginStory } from './scenario/testing/story.ts'
import type { Story, StoryOptions } from './scenario/testing/story.ts'

export { StoryError } from './scenario/testing/story-error.ts'
export type { Refusal, Story, StoryOptions } from './scenario/testing/story.ts'
export type { Verbs } from './scenario/testing/verbs.ts'
export type * from './scenario/testing/answers.ts'

/** Which service, and what its chance follows from; see the fields. */
export type SandboxOptions = ServiceOptions

/** A service to run scenarios against. */
export type Sandbox = {
  readonly apiUrl: string
  /** Whether the service was started for this program alone. */
  readonly isEphemeral: boolean
  /** A merchant with a webhook receiver; stories never meet, so that they may run at the same time. */
  story(options?: StoryOptions): Promise<Story>
  /** Closes the stories that are still open, and a service that was started for them. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens the sandbox: the service that runs here, or one of its own. With a seed, ids and keys follow from it, from the
 * names of the stories (or the order in which they begin), and from the order of their verbs.
 */
export async function sandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { client, isEphemeral, close: closeService } = await openService(options)
  const stories = new Set<Promise<Story>>()
  let closing: Promise<void> | undefined
  const closeAll = async (): Promise<void> => {
    const begun = await Promise.allSettled(stories)
    await Promise.allSettled(begun.map((each) => (each.status === 'fulfilled' ? each.value.close() : undefined)))
    await closeService()
  }
  const close = (): Promise<void> => (closing ??= closeAll())
  return {
    apiUrl: client.apiUrl,
    isEphemeral,
    story(setup = {}) {
      const story = beginStory(client, setup, { key: `story ${stories.size + 1}`, seed: options.seed })
      stories.add(story)
      return story
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
