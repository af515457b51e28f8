import type { Message, Reply } from './chat.ts'

/** The replies of one model, each by the number of its prompt, from 1. A prompt may have none: it failed, or was sent before the model was there. */
export type Replies = ReadonlyMap<number, Reply>

/**
 * What a model is sent for prompt number `nth`: the earlier prompts that it answered, each with its reply, and the prompt. The
 * others are left out, because chat templates demand that the roles alternate.
 */
export function messagesFor(nth: number, prompts: readonly string[], replies: Replies): Message[] {
  const earlier = prompts.slice(0, nth - 1).flatMap((content, place): Message[] => {
    const text = replies.get(place + 1)?.text ?? ''
    return text === ''
      ? []
      : [
          { role: 'user', content },
          { role: 'assistant', content: text },
        ]
  })
  return [...earlier, { role: 'user', content: prompts[nth - 1] ?? '' }]
}
