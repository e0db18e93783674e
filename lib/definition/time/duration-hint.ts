/** What to write instead of a text that is no duration; the text is known to be wrong. */
export function whyNoDuration(text: string): string {
  if (text.length > LONGEST_EXPLAINED) return EXAMPLES;
  if (text.trim() === "") return `It is empty. ${EXAMPLES}`;
  if (/\s/.test(text)) return "Remove the blanks.";
  if (text.includes("/")) {
    return "An interval or a cycle cannot stand here. Write only the duration, for example PT15M.";
  }
  if (/^[+-]?[Pp][^T]*t/.test(text)) return `Write the T in upper case: ${upperT(text)}.`;
  if (/[.,]/.test(text)) return whyNoFraction(text);
  if (/^[+-]?[Pp].*T$/.test(text)) {
    return "Nothing follows the T. Write hours, minutes or seconds after it, or leave it out.";
  }
  if (/^[+-]?[Pp]([+-]?\d+[HhSs])+$/.test(text)) {
    return `Hours, minutes and seconds come after a T: ${text.replace(/[Pp]/, "PT")}.`;
  }
  if (/T.*[YyWwDd]/.test(text)) return "Years, months, weeks and days come before the T.";
  if (/^[+-]?[Pp]?\d{4,8}-?\d\d/.test(text)) {
    return `Durations in the form of a date are not understood. ${EXAMPLES}`;
  }
  if (/^[+-]?[Pp]T?([+-]?\d+[A-Za-z]T?)+$/.test(text)) {
    return "Each unit may stand once, in the order years Y, months M, weeks W, days D, then T, hours H, minutes M, seconds S.";
  }
  return EXAMPLES;
}

/** Longer texts are not written by hand, and some of the patterns above backtrack. */
const LONGEST_EXPLAINED = 100;

const EXAMPLES = "Write for example PT15M, P14D or P1DT12H.";

function upperT(text: string): string {
  return text.replace("t", "T").replace("p", "P");
}

function whyNoFraction(text: string): string {
  if (/[.,]\d{10,}[Ss]$/.test(text)) return "A fraction of a second has one to nine digits.";
  if (/(^|\D)[.,]|[.,](\D|$)/.test(text)) {
    return "Digits stand on both sides of the decimal point, for example PT0.5S.";
  }
  const instead = withoutFraction(text);
  const rule = "Only seconds may have a fraction";
  return instead === undefined ? `${rule}; use a smaller unit.` : `${rule}; write ${instead}.`;
}

/** PT1.5H is PT1H30M: known where one unit stands alone and the next smaller one divides it. */
function withoutFraction(text: string): string | undefined {
  const [, sign = "", time = "", digits = "", fraction = "", letter = ""] =
    /^([+-]?)P(T?)(\d+)[.,](\d{1,6})([YMWDH])$/i.exec(text) ?? [];
  const smaller = SMALLER.get(time + letter.toUpperCase());
  if (smaller === undefined) return undefined;
  const scaled = Number(fraction) * smaller.count;
  const scale = 10 ** fraction.length;
  if (scaled % scale !== 0) return undefined;
  const large = Number(digits) === 0 ? "" : `${Number(digits)}${letter.toUpperCase()}`;
  const small = scaled === 0 ? "" : `${scaled / scale}${smaller.unit}`;
  if (large + small === "") return undefined;
  const separator = time === "" && smaller.isTime && small !== "" ? "T" : "";
  return `${sign}P${time}${large}${separator}${small}`;
}

const SMALLER: ReadonlyMap<
  string,
  Readonly<{ unit: string; count: number; isTime: boolean }>
> = new Map([
  ["Y", { unit: "M", count: 12, isTime: false }],
  ["W", { unit: "D", count: 7, isTime: false }],
  ["D", { unit: "H", count: 24, isTime: true }],
  ["TH", { unit: "M", count: 60, isTime: true }],
  ["TM", { unit: "S", count: 60, isTime: true }],
]);
