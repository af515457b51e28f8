import { wordsOf } from '../../words/words.ts'

export const words = wordsOf({
  title: ['Queue', '队列'],
  paused: ['The queue is paused: nothing new starts.', '队列已暂停：不会启动新任务。'],
  pause: ['Pause the queue', '暂停队列'],
  resume: ['Resume the queue', '恢复队列'],
  pauseReason: ['Reason, shown to everybody who waits', '原因（对所有等待者可见）'],
  priority: ['Priority', '优先级'],
  priorityOf: [
    (id: string, now: number) => `Priority of ${id}: ${now}`,
    (id: string, now: number) => `${id} 的优先级：${now}`,
  ],
  priorityHelp: [
    'From −100 to 100. Jobs of a higher priority start first.',
    '从 −100 到 100，优先级高的任务先启动。',
  ],
  save: ['Save', '保存'],
  draining: [
    (engine: string) => `${engine} accepts no new jobs.`,
    (engine: string) => `${engine} 不再接收新任务。`,
  ],
  series: [(name: string) => `GPUs: ${name}`, (name: string) => `GPU：${name}`],
  idle: ['These GPUs are idle.', '这些 GPU 空闲。'],
  timelineOf: [
    (name: string, running: number, waiting: number) =>
      `${name}: ${running} running, ${waiting} waiting`,
    (name: string, running: number, waiting: number) =>
      `${name}：${running} 个运行中，${waiting} 个等待`,
  ],
  now: ['now', '现在'],
  noEnd: ['end unknown', '结束时间未知'],
  endsIn: [
    (length: string) => `ends in about ${length}`,
    (length: string) => `约 ${length} 后结束`,
  ],
  startsIn: [
    (early: string, late: string) => `starts in ${early} to ${late}`,
    (early: string, late: string) => `${early} 至 ${late} 后启动`,
  ],
  waiting: [
    (jobs: number, gpus: number) => `${jobs} waiting, for ${gpus} GPUs`,
    (jobs: number, gpus: number) => `${jobs} 个等待，共需 ${gpus} 个 GPU`,
  ],
  none: ['Nothing is waiting. Submit a job:', '没有等待中的任务。提交一个：'],
  hidden: [
    (n: number) => `${n} more are in projects that you may not see.`,
    (n: number) => `另有 ${n} 个属于您无权查看的项目。`,
  ],
  place: ['Place', '位置'],
  job: ['Job', '任务'],
  owner: ['Owner', '所有者'],
  gpus: ['GPUs', 'GPU'],
  reason: ['Why it waits', '等待原因'],
  starts: ['Starts in', '预计启动'],
  unknown: ['unknown', '无法估计'],
  range: [
    (early: string, late: string) => `${early} – ${late}`,
    (early: string, late: string) => `${early} – ${late}`,
  ],
  since: ['Submitted', '提交于'],
  why: ['Why?', '为什么？'],
  whyOf: [(id: string) => `Why ${id} waits`, (id: string) => `${id} 的等待原因`],
  ahead: [
    (jobs: number, gpus: number) => `${jobs} jobs are ahead, with ${gpus} GPUs.`,
    (jobs: number, gpus: number) => `前面有 ${jobs} 个任务，共 ${gpus} 个 GPU。`,
  ],
  sooner: ['What would start it sooner', '如何更早启动'],
})
