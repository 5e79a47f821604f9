import type { Child } from '../dom.ts'
import type { Result } from './api.ts'
import type { Hub } from './hub-context.ts'
import { problemBox, loadingText } from './parts.ts'

export type LoadedView<T> = {
  title: string
  load: () => Promise<Result<T>>
  /** Renders the loaded data. */
  render: (value: T) => readonly (Child | readonly Child[])[]
  /** The content if the item does not exist. */
  refused?: () => readonly Child[]
}

/** Shows a view with data of the service: a loading text, then the data, or the error with a retry button. */
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
