/** Fails with an error of the business. */
export default async () => {
  throw Object.assign(new Error("The bank says no."), { name: "BusinessError", code: "DECLINED" });
};
