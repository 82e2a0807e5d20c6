/** One simulation of the corpus. */
export interface CorpusEntry {
  readonly seed: number;
  readonly steps: number;
  readonly partitions: number;
}

/** Seeds that found a fault of the product or of the checker once; each guards its mending. */
const FOUND_FAULTS: readonly number[] = [
  1, 5, 16, 21, 24, 30, 43, 74, 83, 95, 104, 140, 153, 198, 216, 235, 242, 249, 332, 369, 900013,
];

/** Seeds that found one late in a long schedule, with its steps. */
const FOUND_LATE: readonly (readonly [seed: number, steps: number])[] = [
  [4, 500],
  [15, 500],
  [23, 300],
  [161, 500],
  [226, 500],
  [1008, 500],
  [1047, 500],
  [1071, 500],
  [950061, 500],
  [950_027, 500],
  [950_067, 500],
  [920_042, 500],
  [42, 500],
  [69, 500],
  [332, 500],
  [357, 500],
  [640, 500],
  [908, 500],
  [1329, 500],
  [1349, 500],
  [1399, 500],
  [1400, 500],
  [1731, 500],
  [2045, 500],
  [2119, 500],
  [2306, 500],
  [2440, 500],
  [2533, 500],
  [2633, 500],
  [2690, 500],
  [2758, 500],
  [2814, 500],
  [2963, 500],
  [3042, 500],
  [3339, 500],
  [3342, 500],
  [3346, 500],
  [3972, 500],
  [10256, 500],
  [10314, 500],
  [20274, 500],
  [20315, 500],
  [20375, 500],
  [20445, 500],
  [20735, 500],
  [21347, 500],
  [21403, 500],
  [210, 500],
  [496, 500],
];

/** Seeds of the corpus in the order in which they run: what found faults, then wide, then a range. */
export function corpus(): readonly CorpusEntry[] {
  return [
    ...FOUND_FAULTS.map((seed) => ({ seed, steps: 200, partitions: 4 })),
    ...FOUND_LATE.map(([seed, steps]) => ({ seed, steps, partitions: 4 })),
    ...Array.from({ length: 4 }, (_, index) => ({ seed: 900 + index, steps: 60, partitions: 64 })),
    ...Array.from({ length: 60 }, (_, index) => ({
      seed: 1001 + index,
      steps: 200,
      partitions: 4,
    })),
  ];
}
