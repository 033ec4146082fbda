//! Does prediction of collisions help, as Ohlenburg's paper says?

pub mod method;
pub mod path;
pub mod run;

#[cfg(test)]
mod scratch {
    use super::method::*;
    use super::path::*;
    use super::run::*;

    #[test]
    fn tune() {
        let paths: Vec<Path> = (1001..1041).map(Path::corridor).collect();
        let paper = Path::paper();
        for limit in [0.65, 0.7] {
            for spread in [0.03] {
                for memory in [1.0] {
                    let mut m = Method { limit, ..Method::best() };
                    m.prior.spread = spread;
                    let _ = memory;
                    let all: Vec<Summary> =
                        paths.iter().map(|p| run(&m, p, Circumstances::clean(200_000)).summary()).collect();
                    let s = Summary::mean(&all);
                    let q = run(&m, &paper, Circumstances::clean(200_000)).summary();
                    let lossy: Vec<Summary> = (1..41)
                        .map(|seed| {
                            run(&m, &paper, Circumstances { loss: 0.2, seed, ..Circumstances::clean(200_000) })
                                .summary()
                        })
                        .collect();
                    let l = Summary::mean(&lossy);
                    println!(
                        "first limit {limit} spread {spread}: corridor mean {:.4} max {:.3} msgs/s {:.2} pen {:.1e}; paper mean {:.4} msgs/s {:.2} loss {:.4} {:.2}",
                        s.mean_m,
                        s.max_m,
                        s.messages_per_s,
                        s.penetration_m,
                        q.mean_m,
                        q.messages_per_s,
                        l.mean_m,
                        l.messages_per_s
                    );
                }
            }
        }
    }
}
