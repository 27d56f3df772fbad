//! The forecast of the moment at which a limit will be reached.
//!
//! It is a straight line through the recent snapshots of the open window. A line through few or scattered points proves
//! little, so a forecast states its confidence; a single point gives no forecast.

use agent_tracer_event::words;

words! {
    /// The confidence of a forecast.
    ForecastConfidence {
        /// Few points, or far from a line.
        Low = "low",
        /// Some points near a line.
        Medium = "medium",
        /// Many points on a line.
        High = "high",
    }
}

/// A straight line through what was seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// Percent in an hour.
    pub per_hour: f64,
    /// The moment when all is used; none if it does not grow.
    pub full_at: Option<i64>,
    /// The confidence.
    pub trust: ForecastConfidence,
}

/// Shorter stretches say nothing about a slope.
const LEAST_MS: i64 = 5 * 60_000;

const HOUR_MS: f64 = 3_600_000.0;

/// Draws the line through points of time and percent, oldest first.
#[must_use]
pub fn forecast(points: &[(i64, f64)]) -> Option<Forecast> {
    let (first, last) = (points.first()?, points.last()?);
    if last.0 - first.0 < LEAST_MS {
        return None;
    }
    // Moments are taken from the first point on: squares of milliseconds since 1970 exceed the precision of a float.
    let n = points.len() as f64;
    let hours = |at: i64| (at - first.0) as f64 / HOUR_MS;
    let mean_x = points.iter().map(|(at, _)| hours(*at)).sum::<f64>() / n;
    let mean_y = points.iter().map(|(_, used)| used).sum::<f64>() / n;
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (at, used) in points {
        let (x, y) = (hours(*at) - mean_x, used - mean_y);
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    let slope = xy / xx;
    // All points at one moment have no slope.
    if !slope.is_finite() {
        return None;
    }
    // How much of the scatter the line explains.
    let fit = if yy > 0.0 { xy * xy / (xx * yy) } else { 1.0 };
    let trust = match points.len() {
        10.. if fit >= 0.9 => ForecastConfidence::High,
        4.. if fit >= 0.7 => ForecastConfidence::Medium,
        _ => ForecastConfidence::Low,
    };
    let left = (100.0 - last.1).max(0.0);
    // A line that hardly rises reaches the limit in thousands of years, which is no forecast and overflows the
    // moment.
    let full_at = (slope > 1e-6).then(|| left / slope * HOUR_MS).filter(|wait| *wait < 1e13);
    Some(Forecast { per_hour: slope, full_at: full_at.map(|wait| last.0 + wait as i64), trust })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    #[test]
    fn a_line_reaches_the_limit_where_it_points() {
        let points: Vec<(i64, f64)> = (0..=12).map(|at| (at * 5 * MINUTE, 10.0 + at as f64)).collect();
        let line = forecast(&points).unwrap();
        assert!((line.per_hour - 12.0).abs() < 1e-9);
        assert_eq!(line.trust, ForecastConfidence::High);
        // 78 percent are left at twelve an hour.
        assert!((line.full_at.unwrap() - (60 + 390) * MINUTE).abs() < MINUTE, "{line:?}");
    }

    #[test]
    fn few_points_and_scattered_ones_are_believed_less() {
        let two = forecast(&[(0, 10.0), (60 * MINUTE, 20.0)]).unwrap();
        assert_eq!(two.trust, ForecastConfidence::Low);
        let scattered: Vec<(i64, f64)> =
            (0..20).map(|at| (at * 10 * MINUTE, if at % 2 == 0 { 5.0 } else { 60.0 })).collect();
        assert_eq!(forecast(&scattered).unwrap().trust, ForecastConfidence::Low);
    }

    #[test]
    fn what_does_not_grow_is_never_full_and_a_moment_says_nothing() {
        let flat = forecast(&[(0, 40.0), (30 * MINUTE, 40.0)]).unwrap();
        assert_eq!((flat.per_hour, flat.full_at), (0.0, None));
        assert_eq!(forecast(&[(0, 1.0)]), None);
        assert_eq!(forecast(&[(0, 1.0), (1_000, 50.0)]), None);
        assert_eq!(forecast(&[]), None);
        let over = forecast(&[(0, 90.0), (30 * MINUTE, 104.0)]).unwrap();
        assert_eq!(over.full_at, Some(30 * MINUTE), "it is full already");
    }
}
