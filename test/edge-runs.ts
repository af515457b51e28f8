import { askApi } from './servers/api.ts'

type Created = { run_id: string; short_id: string; token: string }

const project = 'edges'
const long = 'a_name_of_128_characters_without_a_space_'.repeat(4).slice(0, 128)

/** Metrics of a run that has many: the usual ones, layers, classes, and names in Chinese. */
const manyKeys = [
  ...['train/loss', 'val/loss', 'val/accuracy', 'lr', 'tokens', 'epoch', '验证/损失 🚀'],
  ...Array.from({ length: 28 }, (_, nth) => `grad/layer_${nth}/norm`),
  ...Array.from({ length: 28 }, (_, nth) => `val/accuracy/class_${nth}`),
]

/** Runs at the edges of what a page can hold: 63 metrics, one point, the longest name, Chinese and emoji, no report. */
export async function makeEdgeRuns(url: string, token: string): Promise<void> {
  const make = (name: string, tags: string[] = []) =>
    askApi<Created>(url, 'POST', '/api/runs', { token, body: { project, name, tags } })
  const report = (run: Created, route: string, body: object) =>
    askApi(url, 'POST', `/api/ingest/${route}`, {
      token: run.token,
      body: { run_id: run.run_id, ...body },
    })
  const curve = (key: string, points: number, scale = 1) =>
    Array.from({ length: points }, (_, nth) => ({
      ...{ key, step: nth * 10 },
      value: (scale * 3) / (1 + nth / 20) + (scale * Math.sin(nth / 7 + key.length)) / 20,
    }))

  const many = await make('63 metrics', ['baseline'])
  await report(many, 'lifecycle', { event: 'running' })
  for (const key of manyKeys) await report(many, 'metrics', { points: curve(key, 200) })

  const single = await make('one point')
  await report(single, 'lifecycle', { event: 'running' })
  await report(single, 'metrics', { points: curve('train/loss', 1) })

  const named = await make(long, [long.slice(0, 64)])
  await report(named, 'lifecycle', { event: 'running' })
  await report(named, 'hparams', { params: { [long]: long, lr: 1e-5 } })
  await report(named, 'metrics', { points: curve(`train/${long}`.slice(0, 128), 50, 1e32) })

  const chinese = await make('大语言模型微调实验 🚀 第三轮', ['基线', '🔥'])
  await report(chinese, 'lifecycle', { event: 'running' })
  await report(chinese, 'metrics', { points: curve('train/loss', 80) })
  await report(chinese, 'logs', { stream: 'stderr', chunks: ['训练开始 🚀', '错误: 显存不足'] })
  await report(chinese, 'lifecycle', { event: 'failed', exit_code: 1, message: '显存不足 🔥' })

  await make('nothing reported')
}
