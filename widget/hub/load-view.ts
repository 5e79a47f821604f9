import type { Child } from '../dom.ts'
import type { Result } from './api.ts'
import type { Hub } from './hub-context.ts'
import { problemBox, loadingText } from './parts.ts'

export type LoadedView<T> = {
  title: string
  load: () => Promise<Result<T>>
  /** What stands under the heading once the data has come. */
  render: (value: T) => readonly (Child | readonly Child[])[]
  /** What to say where there is no such thing. */
  refused?: () => readonly Child[]
}

/** Shows a view whose data comes from the service: waiting, then the data, or what went wrong with a way to retry. */
export async function loadView<T>(hub: Hub, { title, load, render, refused }: LoadedView<T>): Promise<void> {
  const stage = hub.show(title, loadingText(hub))
  const attempt = async (): Promise<void> => {
    const result = await load()
    if (!stage.isCurrent()) return
    if (result.ok) return stage.fill(...render(result.value))
    const { problem } = result
    if (problem.kind === 'signed-out') return hub.signedOut('ended')
    if (problem.kind === 'refused' && refused !== undefined) return stage.fill(...refused())
    stage.fill(
      problemBox(hub, problem, async () => {
        stage.fill(loadingText(hub))
        await attempt()
      }),
    )
  }
  await attempt()
}
